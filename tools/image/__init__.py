"""Container images built without a container engine: files, layers and archives."""
