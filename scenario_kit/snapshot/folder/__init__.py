"""The snapshot folder: manifest, atomic creation and leak scan."""
