"""Images for the real node, built locally: no registry is needed."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Sequence
from pathlib import Path

_CPU = {"x86_64": "amd64", "aarch64": "arm64"}


def build_archive(name: str, busybox: Path, applets: Sequence[str], command: Sequence[str]) -> bytes:
    """Build a docker archive (for ``ctr images import``) with one layer: busybox and links for its applets."""
    layer = _build_layer(busybox, applets)
    config = {
        "architecture": _CPU.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {"Cmd": list(command), "Env": ["PATH=/bin"], "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    text = json.dumps(config).encode()
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    files = {"config.json": text, "layer.tar": layer, "manifest.json": json.dumps(manifest).encode()}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, content in files.items():
            _add(tar, path, content)
    return out.getvalue()


def _build_layer(busybox: Path, applets: Sequence[str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for folder in ("bin", "tmp", "etc", "proc", "sys", "dev"):
            info = tarfile.TarInfo(folder)
            info.type, info.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            tar.addfile(info)
        _add(tar, "bin/busybox", busybox.read_bytes())
        for applet in applets:
            link = tarfile.TarInfo(f"bin/{applet}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
    return out.getvalue()


def _add(tar: tarfile.TarFile, path: str, content: bytes) -> None:
    info = tarfile.TarInfo(path)
    info.size, info.mode = len(content), 0o755
    tar.addfile(info, io.BytesIO(content))
