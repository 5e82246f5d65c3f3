"""Official releases: downloaded over TLS and verified against the published checksum."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from scenario_kit.lab.toolchain.components import Release, ToolchainComponent

#: The connect timeout; a host that exceeds it is skipped for the rest of the run.
CONNECT_SECONDS = 3.0
_TIMEOUT = httpx.Timeout(30.0, connect=CONNECT_SECONDS)


class Unavailable(Exception):
    """The release is not available here; the next method is tried. The message has the cause."""


class Releases:
    """Downloads of one run; remembers unreachable hosts."""

    def __init__(self, transport: httpx.BaseTransport | None = None) -> None:
        self._client = httpx.Client(timeout=_TIMEOUT, follow_redirects=True, transport=transport)
        self._unreachable: dict[str, str] = {}

    def fetch(self, part: ToolchainComponent, folder: Path, on_progress: Callable[[int, int, str], None]) -> Path:
        """Download and verify a component's binary into ``folder``.

        Raises:
            Unavailable: there is no release, its host is unreachable or refuses, or the checksum differs.
        """
        release = part.release
        problem = self.known_problem(part)
        if release is None or problem:
            raise Unavailable(problem)
        host = _find_host(release)
        try:
            desired = find_published_sum(self._text(release.sums), release.url.rsplit("/", 1)[-1])
            downloaded = folder / "download"
            observed = self._download(release.url, downloaded, on_progress)
        except httpx.TransportError as error:
            self._unreachable[host] = f"{host} cannot be reached ({type(error).__name__})"
            raise Unavailable(self._unreachable[host]) from error
        except httpx.HTTPStatusError as error:
            raise Unavailable(f"{error.request.url} answered {error.response.status_code}") from error
        if observed != desired:
            raise Unavailable(f"{release.url} has the checksum {observed}, published is {desired}")
        return _extract(release, downloaded, folder / part.name)

    def known_problem(self, part: ToolchainComponent) -> str:
        """Return why no release of ``part`` is available, if that is known already; empty: try."""
        if part.release is None:
            return "no official binary with a published checksum"
        return self._unreachable.get(_find_host(part.release), "")

    def _text(self, url: str) -> str:
        response = self._client.get(url)
        _require(response)
        return response.text

    def _download(self, url: str, path: Path, on_progress: Callable[[int, int, str], None]) -> str:
        digest = hashlib.sha256()
        with self._client.stream("GET", url) as response, path.open("wb") as file:
            _require(response)
            total = int(response.headers.get("content-length", 0)) >> 20
            for block in response.iter_bytes(1 << 20):
                file.write(block)
                digest.update(block)
                on_progress(file.tell() >> 20, total, "MiB downloaded")
        return digest.hexdigest()


def find_published_sum(text: str, name: str) -> str:
    """Find the SHA-256 of the file ``name`` in a checksum file: a single sum, or lines of sum and name.

    Raises:
        Unavailable: there is no entry for the file.
    """
    for line in text.splitlines():
        fields = line.split()
        if fields and len(fields[0]) == 64 and (len(fields) == 1 or fields[-1].lstrip("*") == name):
            return fields[0].lower()
    raise Unavailable(f"the published checksums have no entry for {name}")


def _find_host(release: Release) -> str:
    return urlsplit(release.url).hostname or ""


def _require(response: httpx.Response) -> None:
    response.raise_for_status()
    if response.url.scheme != "https":
        raise Unavailable(f"{response.url} is not served over TLS")


def _extract(release: Release, downloaded: Path, target: Path) -> Path:
    if not release.member:
        return downloaded.rename(target)
    with tarfile.open(downloaded) as archive:
        member = archive.extractfile(release.member)
        if member is None:
            raise Unavailable(f"{release.url} holds no {release.member}")
        with target.open("wb") as file:
            while block := member.read(1 << 20):
                file.write(block)
    return target
