"""Image layers: compressed tar archives with fixed order, owners and timestamps.

Format: https://github.com/opencontainers/image-spec/blob/v1.1.1/layer.md. The same files give the same tar archive,
and so the same diff ID, on every machine; the digest of the compressed blob also depends on the zlib version.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from scenario_kit.errors import KitError

MEDIA_TYPE: Final = "application/vnd.oci.image.layer.v1.tar+gzip"
_LEVEL: Final = 9


@dataclass(frozen=True)
class FileEntry:
    """A file, folder or link of an image.

    ``path`` is relative. ``content`` is a file's content or source; a folder has neither it nor a ``link``.
    """

    path: str
    mode: int = 0o644
    content: bytes | Path | None = None
    link: str = ""


@dataclass(frozen=True)
class ImageLayer:
    """A written layer: its blob on disk, the blob's digest, and the digest of the uncompressed archive."""

    title: str
    blob: Path
    size: int
    digest: str
    diff_id: str


def collect_entries(root: Path) -> list[FileEntry]:
    """Collect everything below a folder, normalizing permissions: executable for all or for none."""
    found = []
    for folder, names, files in os.walk(root):
        for name in (*names, *files):
            path = Path(folder) / name
            place, mode = path.relative_to(root).as_posix(), path.lstat().st_mode
            if stat.S_ISLNK(mode):
                found.append(FileEntry(place, 0o777, link=str(path.readlink())))
            elif stat.S_ISDIR(mode):
                found.append(FileEntry(place, 0o1777 if mode & stat.S_ISVTX else 0o755))
            else:
                found.append(FileEntry(place, 0o755 if mode & 0o111 else 0o644, path))
    return found


def add_parents(entries: Iterable[FileEntry]) -> list[FileEntry]:
    """Add missing parent folders and sort by path; of several entries with one path the last counts.

    Raises:
        KitError: a path is absolute or leaves the root.
    """
    by_path = {entry.path: entry for entry in entries}
    for path in list(by_path):
        parts = path.split("/")
        if not path or path.startswith("/") or ".." in parts or "." in parts or "" in parts:
            raise KitError(f"'{path}' is not a path in an image: expected a relative one, such as usr/bin/env")
        for length in range(1, len(parts)):
            parent = "/".join(parts[:length])
            by_path.setdefault(parent, FileEntry(parent, 0o755))
    return [by_path[path] for path in sorted(by_path)]


def write_layer(title: str, entries: Iterable[FileEntry], epoch: int, blob: Path) -> ImageLayer:
    """Write a layer to a file, with all files owned by root and dated ``epoch`` (seconds since 1970).

    Raises:
        KitError: a path is absolute or leaves the root.
    """
    sorted_entries = add_parents(entries)
    with blob.open("wb") as file:
        compressed = _DigestWriter(file)
        with gzip.GzipFile("", "wb", _LEVEL, compressed, mtime=0) as packed:
            plain = _DigestWriter(packed)
            with tarfile.open(fileobj=plain, mode="w|", format=tarfile.PAX_FORMAT) as tar:  # type: ignore[call-overload]
                for entry in sorted_entries:
                    add_entry(tar, entry, epoch)
    return ImageLayer(title, blob, compressed.size, compressed.digest, plain.digest)


def read_layer(blob: BinaryIO) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Yield the members of a layer with their content."""
    with tarfile.open(fileobj=blob, mode="r|gz") as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isreg() else None
            yield member, content.read() if content else b""


def add_entry(tar: tarfile.TarFile, entry: FileEntry, epoch: int) -> None:
    """Add a file, folder or link to an archive."""
    info = tarfile.TarInfo(entry.path)
    info.mode, info.mtime = entry.mode, epoch
    if entry.link:
        info.type, info.linkname = tarfile.SYMTYPE, entry.link
        tar.addfile(info)
    elif entry.content is None:
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    elif isinstance(entry.content, bytes):
        info.size = len(entry.content)
        tar.addfile(info, io.BytesIO(entry.content))
    else:
        info.size = entry.content.stat().st_size
        with entry.content.open("rb") as file:
            tar.addfile(info, file)


class _DigestWriter:
    """Forwards writes to a target and digests them."""

    def __init__(self, target: BinaryIO | gzip.GzipFile) -> None:
        self._target = target
        self._sum = hashlib.sha256()
        self.size = 0

    @property
    def digest(self) -> str:
        """The digest of everything written."""
        return f"sha256:{self._sum.hexdigest()}"

    def write(self, data: bytes) -> int:
        """Write to the target."""
        self._sum.update(data)
        self.size += len(data)
        self._target.write(data)
        return len(data)

    def flush(self) -> None:
        """Flush the target."""
        self._target.flush()
