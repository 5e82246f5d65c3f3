"""Files shipped with a work list: packed into documents that fit into ConfigMaps, and unpacked in a pod.

A document maps places to files, each compressed with gzip and encoded with base64, so that sizes add up. The limit is
that of API objects (https://kubernetes.io/docs/concepts/configuration/configmap/#motivation).
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from scenario_kit.errors import UsageError
from scenario_kit.shards.compression import decompress
from scenario_kit.shards.content_digest import list_root_files, list_scenario_files, name_differing_parts, read_file
from scenario_kit.shards.work_list import CatalogueRoot, WorkItem, WorkList

#: Maximum size of the data of a ConfigMap, in bytes; 1 MiB, less room for its metadata.
MAX_BYTES: Final = 1024 * 1024 - 16 * 1024
#: Maximum number of ConfigMaps that a pod mounts: beyond, an image is quicker than the API server.
MAX_DOCUMENTS: Final = 100
_OVERHEAD: Final = 8  # quotes, colon, comma
_FIX: Final = "build an image with the catalogue inside and plan with --in-image (docs/shards.md)"


def list_shipped_files(work: WorkList, roots: Sequence[Path]) -> dict[str, Path]:
    """List the shipped files by their place.

    Args:
        work: the work list.
        roots: its roots on this machine, in the order of the list.

    Raises:
        UsageError: two scenarios that stand alone have folders of the same name.
    """
    found: dict[str, Path] = {}
    homes: dict[PurePosixPath, Path] = {}
    for index, (root, known) in enumerate(zip(roots, work.roots, strict=True)):
        if known.shipped:
            found |= {_place_in_root(index, path.relative_to(root).as_posix()): path for path in list_root_files(root)}
    for item in work.items:
        if item.root >= 0:
            continue
        file, folder = Path(item.path), PurePosixPath(item.place).parent
        if not homes.setdefault(folder, file.parent).samefile(file.parent):
            raise UsageError(
                f"{homes[folder]} and {file.parent} are folders of the same name; pods need different ones",
                fix="rename one, or put both into a collection (catalog/scenarios/NAME)",
            )
        for path in list_scenario_files(file):
            found[f"alone/{folder}/{path.relative_to(file.parent).as_posix()}"] = path
    return found


def pack_files(files: Mapping[str, Path], limit: int = MAX_BYTES) -> list[str]:
    """Pack files into documents of at most ``limit`` bytes each, in the order of their places.

    Raises:
        UsageError: a file is too large for a document, or there are too many documents.
    """
    documents: list[dict[str, str]] = []
    size = limit + 1
    for place in sorted(files):
        text = base64.b64encode(gzip.compress(read_file(files[place]), mtime=0)).decode()
        needs = len(json.dumps(place)) + len(text) + _OVERHEAD
        if needs > limit:
            raise UsageError(
                f"{files[place]} takes {needs} bytes, compressed; a ConfigMap has room for {limit}", fix=_FIX
            )
        if size + needs > limit:
            documents.append({})
            size = 2
        documents[-1][place] = text
        size += needs
    if len(documents) > MAX_DOCUMENTS:
        raise UsageError(
            f"{len(files)} files need {len(documents)} ConfigMaps; a pod should mount at most {MAX_DOCUMENTS}", fix=_FIX
        )
    return [json.dumps(document) for document in documents]


def unpack_files(documents: Iterable[bytes], folder: Path) -> int:
    """Unpack documents into a folder; return the number of files.

    Raises:
        UsageError: a document is invalid, or a place is outside of the folder.
    """
    count = 0
    for place, data in _read_documents(documents):
        path = folder.joinpath(*place.parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        count += 1
    return count


def _read_documents(documents: Iterable[bytes]) -> Iterator[tuple[PurePosixPath, bytes]]:
    for document in documents:
        try:
            files = {PurePosixPath(place): base64.b64decode(text) for place, text in json.loads(document).items()}
            for place, data in files.items():
                if place.is_absolute() or ".." in place.parts or not place.parts:
                    raise UsageError(f"the files of the work have one outside of their folder: {place}", fix=_AGAIN)
                yield place, decompress(data)
        except (ValueError, TypeError, AttributeError, binascii.Error, zlib.error) as error:
            raise UsageError(f"the files of the work are damaged: {error}", fix=_AGAIN) from error


_AGAIN: Final = "apply again what scenario-kit shards manifests prints"


def locate_shipped_root(folder: Path, index: int) -> Path:
    """Return the folder of a root that was unpacked."""
    return folder / "roots" / str(index)


def locate_item(item: WorkItem, folder: Path, roots: Sequence[Path]) -> Path:
    """Return the file of a scenario, given the folder of unpacked files and the roots in the order of the list."""
    return (roots[item.root] if item.root >= 0 else folder / "alone") / item.place


def choose_root(known: CatalogueRoot, observed: Mapping[Path, Mapping[str, str]]) -> Path:
    """Choose the folder of this machine that has the same content as a root of the work list.

    Args:
        known: the root.
        observed: digests of the parts of each folder that this machine has.

    Raises:
        UsageError: none has; the message names the parts that differ in the most similar one.
    """
    differing = {path: name_differing_parts(known.parts, parts) for path, parts in observed.items()}
    for path, names in differing.items():
        if not names:
            return path
    nearest = min(differing, key=lambda path: len(differing[path]), default=None)
    reported = f"; {nearest} differs in {', '.join(differing[nearest])}" if nearest is not None else ""
    raise UsageError(
        f"this machine does not have the catalogue of the work list{reported}",
        fix="use an image, or a checkout, of the commit for which it was planned",
    )


def _place_in_root(index: int, place: str) -> str:
    return f"roots/{index}/{place}"
