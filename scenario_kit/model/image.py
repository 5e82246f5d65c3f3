"""Names of container images."""

from __future__ import annotations


def normalised(image: str) -> str:
    """The name as the container runtime reports it: with registry, ``library/`` and tag."""
    name, at, digest = image.partition("@")
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first and ":" not in first and first != "localhost":
        name = f"docker.io/{name}"
    if not at and ":" not in name.rsplit("/", 1)[-1]:
        name += ":latest"
    return f"{name}@{digest}" if at else name
