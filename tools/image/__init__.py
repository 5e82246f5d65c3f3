"""Container images without a container engine: the files, their layers, and the archive that holds them."""
