"""Container image names."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Final

#: A reference, as container runtimes read it: registry, repository, tag, digest.
_REFERENCE: Final = re.compile(
    r"([a-zA-Z0-9][-.a-zA-Z0-9]*(:[0-9]+)?/)?[a-z0-9]+([-._]+[a-z0-9]+)*(/[a-z0-9]+([-._]+[a-z0-9]+)*)*"
    r"(:[a-zA-Z0-9_][-.a-zA-Z0-9_]{0,127})?(@[a-z0-9]+:[0-9a-f]{32,128})?"
)


def is_reference(image: str) -> bool:
    """Return whether a container runtime can read an image's name; of any other, a pod says InvalidImageName."""
    return _REFERENCE.fullmatch(image) is not None


def normalize_image(image: str) -> str:
    """Return the name as the container runtime reports it: with registry, ``library/`` and tag."""
    name, at, digest = image.partition("@")
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first and ":" not in first and first != "localhost":
        name = f"docker.io/{name}"
    if not at and ":" not in name.rsplit("/", 1)[-1]:
        name += ":latest"
    return f"{name}@{digest}" if at else name


def matches_image(image: str, pattern: str) -> bool:
    """Return whether a glob matches an image's name: as written or normalised, or, of an image of Docker Hub, its short
    form; with or without digest.
    """
    name = normalize_image(image)
    short = name.removeprefix("docker.io/").removeprefix("library/")
    forms = {form for each in (image, name, short) for form in (each, each.partition("@")[0])}
    return any(fnmatchcase(form, pattern) for form in forms)


#: Repositories of common tool images, available in every registry mirror.
_TOOLS: Final = frozenset({
    "docker.io/alpine/curl", "docker.io/curlimages/curl", "docker.io/infoblox/dnstools", "docker.io/library/alpine",
    "docker.io/library/bash", "docker.io/library/busybox", "docker.io/library/debian", "docker.io/library/nginx",
    "docker.io/library/ubuntu", "docker.io/nicolaka/netshoot", "docker.io/praqma/network-multitool",
    "docker.io/tutum/dnsutils", "docker.io/wbitt/network-multitool", "quay.io/curl/curl",
    "registry.k8s.io/e2e-test-images/agnhost", "registry.k8s.io/e2e-test-images/jessie-dnsutils",
})  # fmt: skip
#: Tags of such images: versions and distributions.
_TAG: Final = re.compile(
    r"latest|stable|alpine|musl|glibc|uclibc|edge|noble|jammy|bookworm|trixie|slim|minimal|extra"
    r"|v?\d+(?:\.\d+){0,2}(?:-(?:alpine|musl|glibc|uclibc|slim|perl))?"
)


def is_tool(image: str) -> bool:
    """Return whether an image is a common tool image, as used for debug pods."""
    name = normalize_image(image).partition("@")[0]
    repository, _, tag = name.rpartition(":")
    return repository in _TOOLS and _TAG.fullmatch(tag) is not None
