"""Layers of an image: files in a fixed order, with fixed owners and times, as a tar archive that is compressed.

Format: https://github.com/opencontainers/image-spec/blob/v1.1.1/layer.md. The same files give the same tar archive on
every machine, and so the same diff ID; the digest of the compressed blob depends on the machine's zlib, too.
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
    """A file, a folder or a link of an image. ``path`` is relative to its root.

    ``content`` is the text of a file, or the file that it is copied from; neither it nor ``link``: a folder.
    """

    path: str
    mode: int = 0o644
    content: bytes | Path | None = None
    link: str = ""


@dataclass(frozen=True)
class ImageLayer:
    """A layer that was written: its blob on disk, the digest of the blob, and of what it is uncompressed."""

    title: str
    blob: Path
    size: int
    digest: str
    diff_id: str


def collect_entries(root: Path) -> list[FileEntry]:
    """Collect everything below a folder, itself apart; whoever may execute a file, everybody may."""
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
    """Add the folders that the entries lie in, and sort all by path; the last one of a path counts.

    Raises:
        KitError: a path is absolute, or leads out of the image.
    """
    by_path = {entry.path: entry for entry in entries}
    for path in list(by_path):
        parts = path.split("/")
        if not path or path.startswith("/") or ".." in parts or "." in parts or "" in parts:
            raise KitError(f"'{path}' is no path of an image: expected one relative to its root, such as usr/bin/env")
        for length in range(1, len(parts)):
            parent = "/".join(parts[:length])
            by_path.setdefault(parent, FileEntry(parent, 0o755))
    return [by_path[path] for path in sorted(by_path)]


def write_layer(title: str, entries: Iterable[FileEntry], epoch: int, blob: Path) -> ImageLayer:
    """Write a layer to a file. All its files belong to root and are of ``epoch``, seconds since 1970.

    Raises:
        KitError: a path is absolute, or leads out of the image.
    """
    sorted_entries = add_parents(entries)
    with blob.open("wb") as file:
        compressed = _DigestWriter(file)
        with gzip.GzipFile("", "wb", _LEVEL, compressed, mtime=0) as packed:
            plain = _DigestWriter(packed)
            with tarfile.open(fileobj=plain, mode="w|", format=tarfile.PAX_FORMAT) as tar:  # type: ignore[call-overload]
                for entry in sorted_entries:
                    _add_entry(tar, entry, epoch)
    return ImageLayer(title, blob, compressed.size, compressed.digest, plain.digest)


def read_layer(blob: BinaryIO) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Read what a layer holds, with the content of its files."""
    with tarfile.open(fileobj=blob, mode="r|gz") as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isreg() else None
            yield member, content.read() if content else b""


def _add_entry(tar: tarfile.TarFile, entry: FileEntry, epoch: int) -> None:
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
    """Passes on what is written, and digests it."""

    def __init__(self, target: BinaryIO | gzip.GzipFile) -> None:
        self._target = target
        self._sum = hashlib.sha256()
        self.size = 0

    @property
    def digest(self) -> str:
        """The digest of all that was written."""
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
