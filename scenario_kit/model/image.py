"""Names of container images."""

from __future__ import annotations

from fnmatch import fnmatchcase


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


def like(image: str, pattern: str) -> bool:
    """Whether a glob pattern fits the normalised name of an image, with its digest or without."""
    name = normalised(image)
    return fnmatchcase(name, pattern) or fnmatchcase(name.partition("@")[0], pattern)
