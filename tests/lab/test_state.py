"""The state of a lab on disk, and which of its processes are alive."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scenario_kit.errors import LabError, UsageError
from scenario_kit.lab import lifecycle
from scenario_kit.lab.host import procfs
from scenario_kit.lab.host.state import (
    LabState,
    ProcessState,
    find_home,
    find_lab_folder,
    list_lab_names,
    read_log_tail,
)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENARIO_KIT_HOME", str(tmp_path))


def state(name: str = "default", **fields: object) -> LabState:
    return LabState(name=name, folder=str(find_lab_folder(name)), epoch=1500, **fields)  # type: ignore[arg-type]


def test_state_round_trips_with_private_permissions() -> None:
    saved = state(server_token="secret", parts=(ProcessState(name="etcd", pid=7, log="/l", port=1),), ports={"etcd": 1})
    saved.save()
    assert LabState.load() == saved
    path = find_lab_folder("default") / "lab.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in path.parent.iterdir()] == ["lab.json"]


def test_missing_lab_error_has_a_fix() -> None:
    assert LabState.find("second") is None
    with pytest.raises(LabError, match="no lab named 'second'") as caught:
        LabState.load("second")
    assert caught.value.fix == "scenario-kit lab up --name second"


def test_file_of_other_version_error_has_a_fix() -> None:
    state().save()
    (find_lab_folder("default") / "lab.json").write_text('{"name": "default", "colour": 1}')
    with pytest.raises(LabError, match="another version") as caught:
        LabState.load()
    assert "lab down" in caught.value.fix


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a-", "../x", "a" * 31, "a/b"])
def test_invalid_lab_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not a valid lab name"):
        find_lab_folder(name)


def test_labs_are_listed() -> None:
    for name in ("b", "a"):
        state(name).save()
    assert list_lab_names() == ["a", "b"]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"SCENARIO_KIT_HOME": "/x"}, "/x"),
        ({"XDG_STATE_HOME": "/s"}, "/s/scenario-kit"),
        ({"HOME": "/h"}, "/h/.local/state/scenario-kit"),
    ],
)
def test_home_follows_the_environment(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SCENARIO_KIT_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert str(find_home()) == expected


def test_with_part_replaces_by_name() -> None:
    first, second = ProcessState(name="a", pid=1, log=""), ProcessState(name="b", pid=2, log="")
    replaced = ProcessState(name="a", pid=3, log="")
    assert state().with_part(first).with_part(second).with_part(replaced).parts == (replaced, second)


def test_process_marker_is_visible_from_start(tmp_path: Path) -> None:
    """The kernel may report a process before its environment is set."""
    mark = procfs.make_marker(str(tmp_path))
    for _ in range(60):
        with subprocess.Popen(["sleep", "600"], env={**os.environ, **mark}) as process:
            try:
                assert procfs.has_marker(process.pid, mark)
                assert list(procfs.find(mark)) == [process.pid]
            finally:
                process.kill()
    with subprocess.Popen(["sleep", "600"], env={}) as bare:
        assert not procfs.has_marker(bare.pid, mark)
        bare.kill()


def test_processes_of_a_lab_in_a_pod_do_not_see_the_cluster_of_the_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    built = procfs.build_environment("/labs/a", {"GOGC": "75"})
    assert not [name for name in built if name.startswith("KUBERNETES_SERVICE")]
    assert (built["HTTPS_PROXY"], built["GOGC"], built[procfs.MARKER]) == ("http://proxy", "75", "/labs/a")


def test_only_marked_processes_count_as_alive(tmp_path: Path) -> None:
    here = state()
    command = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]
    mark = procfs.make_marker(here.folder)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **mark})
    try:
        process.stdout.readline()
        log = tmp_path / "a.log"
        log.write_text("one\ntwo\n")
        here = here.with_part(ProcessState(name="a", pid=process.pid, log=str(log)))
        assert here.dead_parts() == ()
        assert list(procfs.find(mark)) == [process.pid]
        here.require_alive()
        stranger = here.with_part(ProcessState(name="b", pid=os.getpid(), log="/nowhere"))
        assert [p.name for p in stranger.dead_parts()] == ["b"]
    finally:
        process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # now a zombie, which is not alive either
    assert [(p.name, p.tail) for p in here.dead_parts()] == [("a", "one\ntwo")]
    with pytest.raises(LabError, match=r"(?s)while waiting: lab 'default': a \(pid \d+\) is gone.*two"):
        here.require_alive("waiting")
    process.communicate()


def test_unstarted_part_is_not_dead() -> None:
    assert state(parts=(ProcessState(name="a", pid=0, log=""),)).dead_parts() == ()


def test_tail_of_a_log_is_short(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("\n".join(f"line {n} " + "x" * 1000 for n in range(1000)))
    tail = read_log_tail(str(log)).splitlines()
    assert tail[-1].startswith("line 999 ")
    assert len(tail) == 8
    assert max(map(len, tail)) == 240
    assert read_log_tail(str(tmp_path / "none")) == ""


def test_lab_of_another_version_is_not_used() -> None:
    state(complete=True, version="0.0.9").save()
    with pytest.raises(LabError, match=r"runs scenario-kit 0\.0\.9, but this is") as refused:
        lifecycle.bring_up("default")
    assert "lab down" in refused.value.fix
    assert lifecycle.take_down("default")
