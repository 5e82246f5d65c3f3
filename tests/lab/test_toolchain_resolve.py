"""Where parts are found: environment, PATH, cache, in this order."""

from pathlib import Path

import pytest

from scenario_kit.errors import ToolchainError
from scenario_kit.lab.toolchain import cache, resolve
from scenario_kit.lab.toolchain.components import PARTS, get_part
from scenario_kit.lab.toolchain.lookup import look_up, mentions_version


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No part anywhere; programs of the system stay on PATH."""
    monkeypatch.setenv("SCENARIO_KIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    for p in PARTS:
        monkeypatch.delenv(p.variable, raising=False)


def program(path: Path, output: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{output}'\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("output", "version", "expected"),
    [
        ("Kubernetes v1.34.2", "1.34.2", True),
        ("etcd Version: 3.6.4\nGit SHA: none", "3.6.4", True),
        ("prometheus, version 3.15.0 (branch: , revision: unknown)", "3.15.0", True),
        ('version.Info{GitVersion:"v0.9.1-0.2026-a", Go:"x"}', "0.9.1-0.2026-a", True),
        ("Kubernetes v1.34.20", "1.34.2", False),
        ("Kubernetes v11.34.2", "1.34.2", False),
        ("Kubernetes v1.34.2-beta.1", "1.34.2", False),
        ("Kubernetes v2.1.34.2", "1.34.2", False),
        ("", "1.34.2", False),
    ],
)
def test_version_must_match_exactly(output: str, version: str, expected: bool) -> None:
    assert mentions_version(output, version) is expected


def test_order_is_environment_then_path_then_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    etcd = get_part("etcd")
    cached = program(cache.locate_binary(etcd), "cached")
    assert (look_up(etcd).source, look_up(etcd).path) == ("cache", cached)
    on_path = program(tmp_path / "path" / "etcd", f"etcd Version: {etcd.version}")
    assert (look_up(etcd).source, look_up(etcd).path) == ("PATH", on_path)
    mine = program(tmp_path / "mine", "anything")
    monkeypatch.setenv("SCENARIO_KIT_ETCD", str(mine))
    assert (look_up(etcd).source, look_up(etcd).path) == ("environment", mine)


def test_other_version_on_path_is_ignored_and_mentioned(tmp_path: Path) -> None:
    program(tmp_path / "path" / "etcd", "etcd Version: 3.5.0")
    status = look_up(get_part("etcd"))
    assert status.source == "missing"
    assert "another version" in status.problem


def test_kubectl_on_path_counts_in_any_version(tmp_path: Path) -> None:
    found = program(tmp_path / "path" / "kubectl", "Client Version: v1.20.0")
    assert look_up(get_part("kubectl")).path == found


def test_variable_with_missing_program_is_an_error_despite_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(cache.locate_binary(get_part("kwok")), "cached")
    monkeypatch.setenv("SCENARIO_KIT_KWOK", str(tmp_path / "nothing"))
    with pytest.raises(ToolchainError, match=r"SCENARIO_KIT_KWOK=.*nothing is not an executable file"):
        resolve("kwok")


def test_missing_component_error_names_variable() -> None:
    with pytest.raises(ToolchainError, match=r"kube-apiserver 1\.34\.2: it is neither") as caught:
        resolve("kube-apiserver")
    assert "SCENARIO_KIT_KUBE_APISERVER" in caught.value.fix


def test_look_up_creates_no_files(tmp_path: Path) -> None:
    for p in PARTS:
        look_up(p)
    assert list(tmp_path.iterdir()) == []
