"""The archive of an image: an OCI layout in a tar archive, which Docker can load, too.

Formats: https://github.com/opencontainers/image-spec/blob/v1.1.1/{image-layout,manifest,config,image-index}.md; the
``manifest.json`` beside it is that of ``docker save``.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from scenario_kit.errors import UsageError
from scenario_kit.model.kubernetes.image import normalize_image
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from tools.image.layer import MEDIA_TYPE, FileEntry, ImageLayer, add_entry

CONFIG: Final = "application/vnd.oci.image.config.v1+json"
MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
INDEX: Final = "application/vnd.oci.image.index.v1+json"
REF_NAME: Final = "org.opencontainers.image.ref.name"
#: The full name under which containerd and Docker import it.
IMPORT_NAME: Final = "io.containerd.image.name"
_LAYOUT: Final = {"imageLayoutVersion": "1.0.0"}
_BLOCK: Final = 1 << 20
#: Maximum size of JSON documents in an archive.
_MOST_OF_JSON: Final = 4 << 20


@dataclass(frozen=True)
class ImageConfig:
    """Runtime configuration and labels of an image.

    ``name`` is a reference with a tag, fully qualified or not; ``user`` a numeric user and group.
    """

    name: str
    architecture: str
    user: str
    entrypoint: Sequence[str]
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str = "/"
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ArchiveDigests:
    """The digests of an image: ``manifest`` identifies it in registries, ``config`` (the image ID) on machines."""

    name: str
    manifest: str
    config: str
    layers: Sequence[str]
    size: int


def build_config(image: ImageConfig, layers: Sequence[ImageLayer], epoch: int) -> dict[str, Any]:
    """Build the configuration, which refers to layers by diff ID and so does not depend on compression."""
    created = format_timestamp(epoch)
    return {
        "created": created,
        "architecture": image.architecture,
        "os": "linux",
        "config": {
            "User": image.user,
            "Env": [f"{name}={value}" for name, value in sorted(image.environment.items())],
            "Entrypoint": list(image.entrypoint),
            "Cmd": list(image.arguments),
            "WorkingDir": image.folder,
            "Labels": dict(sorted(image.labels.items())),
        },
        "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers]},
        "history": [{"created": created, "created_by": f"ci/image: {layer.title}"} for layer in layers],
    }


def build_manifest(config: bytes, layers: Sequence[ImageLayer], annotations: Mapping[str, str]) -> dict[str, Any]:
    """Build the manifest of an encoded configuration and its layers."""
    return {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": _describe(CONFIG, config),
        "layers": [{"mediaType": MEDIA_TYPE, "digest": each.digest, "size": each.size} for each in layers],
        "annotations": dict(sorted(annotations.items())),
    }


def write_archive(image: ImageConfig, layers: Sequence[ImageLayer], epoch: int, target: Path) -> ArchiveDigests:
    """Write the archive atomically; returns its digests."""
    config = _encode(build_config(image, layers, epoch))
    manifest = _encode(build_manifest(config, layers, image.labels))
    full = normalize_image(image.name)
    described = _describe(MANIFEST, manifest) | {
        "platform": {"architecture": image.architecture, "os": "linux"},
        "annotations": {IMPORT_NAME: full, REF_NAME: full.rpartition(":")[2]},
    }
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [described]}
    legacy = [
        {
            "Config": _locate_blob(_digest(config)),
            "RepoTags": [full],
            "Layers": [_locate_blob(layer.digest) for layer in layers],
        }
    ]
    files: dict[str, bytes | Path] = {
        "oci-layout": _encode(_LAYOUT),
        "index.json": _encode(index),
        "manifest.json": _encode(legacy),
        _locate_blob(_digest(config)): config,
        _locate_blob(_digest(manifest)): manifest,
        **{_locate_blob(layer.digest): layer.blob for layer in layers},
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.part")
    with tarfile.open(unfinished, "w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(files):
            add_entry(tar, FileEntry(path, content=files[path]), epoch)
    unfinished.replace(target)
    digests = [layer.digest for layer in layers]
    return ArchiveDigests(full, _digest(manifest), _digest(config), digests, target.stat().st_size)


def verify_archive(archive: Path) -> ArchiveDigests:
    """Verify every digest of an archive, from its index to the diff IDs of its layers; returns them.

    Raises:
        UsageError: it is not such an archive, or a digest does not match.
    """
    try:
        with tarfile.open(archive, "r:") as tar:
            return _verify(tar, archive)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise UsageError(f"{archive} cannot be read as an image archive: {error}", fix=_FIX) from error
    except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise UsageError(f"{archive} is not an image archive in OCI layout: {error!r}", fix=_FIX) from error


_FIX: Final = "rebuild it: ci/image"


def _verify(tar: tarfile.TarFile, archive: Path) -> ArchiveDigests:
    index = _read_json(tar, "index.json")
    described = index["manifests"][0]
    manifest = _read_json(tar, _locate_blob(described["digest"]), described["digest"])
    config = _read_json(tar, _locate_blob(manifest["config"]["digest"]), manifest["config"]["digest"])
    diff_ids = config["rootfs"]["diff_ids"]
    if len(diff_ids) != len(manifest["layers"]):
        raise UsageError(
            f"{archive}: the manifest has {len(manifest['layers'])} layers, the configuration {len(diff_ids)}", fix=_FIX
        )
    for layer, diff_id in zip(manifest["layers"], diff_ids, strict=True):
        _verify_layer(tar, archive, layer, diff_id)
    return ArchiveDigests(
        described["annotations"].get(IMPORT_NAME, ""),
        described["digest"],
        manifest["config"]["digest"],
        [layer["digest"] for layer in manifest["layers"]],
        archive.stat().st_size,
    )


def _verify_layer(tar: tarfile.TarFile, archive: Path, layer: Mapping[str, Any], diff_id: str) -> None:
    blob = tar.extractfile(_locate_blob(layer["digest"]))
    assert blob is not None
    if (observed := _digest_stream(blob)) != layer["digest"]:
        raise UsageError(f"{archive}: a layer is {observed}, expected {layer['digest']}", fix=_FIX)
    blob.seek(0)
    with gzip.open(blob) as plain:
        if (observed := _digest_stream(plain)) != diff_id:
            raise UsageError(f"{archive}: {layer['digest']} holds {observed}, expected {diff_id}", fix=_FIX)


def _read_json(tar: tarfile.TarFile, path: str, digest: str = "") -> Any:
    member = tar.getmember(path)
    file = tar.extractfile(member)
    if file is None or member.size > _MOST_OF_JSON:
        raise ValueError(f"{path} is not a JSON document of an image")
    data = file.read()
    if digest and _digest(data) != digest:
        raise UsageError(f"{path} is {_digest(data)}, expected {digest}", fix=_FIX)
    return json.loads(data)


def _describe(kind: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": kind, "digest": _digest(data), "size": len(data)}


def _locate_blob(digest: str) -> str:
    algorithm, _, value = digest.partition(":")
    if algorithm != "sha256" or len(value) != 64:
        raise ValueError(f"'{digest}' is not a SHA-256 digest")
    return f"blobs/sha256/{value}"


def _encode(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _digest_stream(stream: Any) -> str:
    sums = hashlib.sha256()
    while block := stream.read(_BLOCK):
        sums.update(block)
    return f"sha256:{sums.hexdigest()}"
