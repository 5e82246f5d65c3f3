"""The commands of `shards` from end to end, without a lab: a scenario that lint refuses has a verdict at once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenario_kit.catalog import find_data_root
from scenario_kit.cli import run
from scenario_kit.model import Verdict
from scenario_kit.report import read_report
from scenario_kit.shards.execution import describe_report
from scenario_kit.shards.result_store import FolderStore
from scenario_kit.shards.results import RESULT_VERSION, ShardResult
from scenario_kit.shards.work_list import read_work_list
from tests.shards.conftest import make_report

SCENARIOS = find_data_root() / "catalog" / "scenarios"
GOOD = "cart-scaled-to-zero"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with two scenarios: one with an unknown fault type, one that is no YAML."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JOB_COMPLETION_INDEX", raising=False)
    for name, old, new in (
        ("unknown-fault", "deployment-scaled-to-zero", "deployment-scaled-to-sero"),
        ("no-yaml", "kind: Scenario", "kind: {"),
    ):
        shutil.copytree(SCENARIOS / GOOD, tmp_path / "mine" / name)
        file = tmp_path / "mine" / name / "scenario.yaml"
        text = file.read_text().replace(GOOD, name)
        assert old in text
        file.write_text(text.replace(old, new))
    return tmp_path


def plan(*more):
    return run(["shards", "plan", "mine", "--shards", "2", *more])


def test_from_a_plan_to_a_summary(home, capsys):
    assert plan() == 0
    shown = capsys.readouterr()
    assert "one lab" in shown.out
    assert "2 cannot be resolved, and will fail" in shown.err

    assert run(["shards", "collect", "work.json", "--results", "results"]) == 2
    assert "2 Missing" in capsys.readouterr().out

    for index in ("0", "1"):
        assert run(["shards", "run", "work.json", "--index", index, "--results", "results"]) == 0
    assert run(["shards", "run", "work.json", "--index", "1", "--results", "results"]) == 0
    assert "1 of 1 scenarios have a result already" in capsys.readouterr().err

    for _ in range(2):  # what is there is not written twice
        assert run(["shards", "collect", "work.json", "--results", "results"]) == 1
    assert "2 Fail" in capsys.readouterr().out
    for name in ("unknown-fault", "no-yaml"):
        (folder,) = (home / "runs" / name).iterdir()
        report = read_report(folder)
        assert report.validation.path == f"mine/{name}/scenario.yaml"
        assert all(f.position.path.startswith("mine/") for f in report.validation.findings if f.position)
        assert {each.name for each in folder.iterdir()} == {"report.json", "report.md", "report.html"}
    assert (home / "runs" / "summary.md").read_text().startswith("# 0 of 2 scenarios pass")
    assert 'testsuite name="no-yaml"' in (home / "runs" / "junit.xml").read_text()
    assert json.loads((home / "runs" / "summary.json").read_text())["counts"] == {"Fail": 2}


def test_pod_reproduces_the_printed_run(home, capsys, monkeypatch):
    """Files come from the ConfigMaps, the index from the Job controller, and the folder of the author is gone."""
    import yaml

    assert plan() == 0
    capsys.readouterr()
    assert run(["shards", "manifests", "work.json"]) == 0
    objects = list(yaml.safe_load_all(capsys.readouterr().out))
    (home / "input" / "files").mkdir(parents=True)
    for obj in objects:
        for key, text in (obj.get("data") or {}).items():
            (home / "input" / ("files" if key == "files.json" else "") / key).write_text(text)
    shutil.move(home / "mine", home / "gone")
    for index in ("0", "1"):
        monkeypatch.setenv("JOB_COMPLETION_INDEX", index)
        assert run(["shards", "run", "input/work.json", "--files", "input/files", "--results", "results"]) == 0
    shutil.move(home / "gone", home / "mine")
    assert run(["shards", "collect", "work.json", "--results", "results", "--format", "json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["counts"] == {"Fail": 2}
    (folder,) = (home / "runs" / "unknown-fault").iterdir()
    finding = read_report(folder).validation.findings[0]
    assert finding.position.path == "mine/unknown-fault/scenario.yaml"


def test_edited_scenario_is_stale_and_replanned(home, capsys):
    plan()
    for index in ("0", "1"):
        run(["shards", "run", "work.json", "--index", index, "--results", "results"])
    file = home / "mine" / "no-yaml" / "scenario.yaml"
    file.write_text(file.read_text() + "\n")
    capsys.readouterr()
    assert run(["shards", "collect", "work.json", "--results", "results"]) == 1
    assert "1 Fail, 1 Stale" in capsys.readouterr().out
    assert run(["shards", "manifests", "work.json"]) == 3
    assert "has changed since the work list was planned" in capsys.readouterr().err

    plan()
    capsys.readouterr()
    for index in ("0", "1"):
        assert run(["shards", "run", "work.json", "--index", index, "--results", "results"]) == 0
    assert capsys.readouterr().err.count("have a result already") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "work.json"], "--index NUMBER, or JOB_COMPLETION_INDEX"),
        (["run", "work.json", "--index", "7", "--results", "r"], "shards are 0 to 1"),
        (["run", "none.json", "--index", "0", "--results", "r"], "cannot read the work list none.json"),
        (["collect", "none.json", "--results", "r"], "cannot read the work list none.json"),
        (["manifests", "work.json", "--image", "a b"], "this is not an image reference"),
        (["manifests", "work.json", "--memory", "much"], "this is not a quantity"),
        (["plan", "nowhere", "--shards", "2"], "there is no nowhere"),
        (["plan", "mine", "--shards", "2", "--plan", "odd"], "there is no plan 'odd'"),
        (["plan", "mine", "--shards", "2", "--name", "A B"], "is not a name for a work list"),
    ],
)
def test_usage_errors_state_the_expected_value(arguments, said, home, capsys):
    plan()
    capsys.readouterr()
    assert run(["shards", *arguments]) == 3
    shown = capsys.readouterr()
    assert said in shown.err


def test_another_catalogue_than_the_planned_one_ends_the_job(home, capsys):
    plan()
    document = json.loads((home / "work.json").read_text())
    document["roots"][0]["parts"]["catalog/faults"] = "0" * 64
    (home / "work.json").write_text(json.dumps(document))
    assert run(["shards", "run", "work.json", "--index", "0", "--results", "r"]) == 3
    assert "differs in catalog/faults" in capsys.readouterr().err
    assert not (home / "r").exists()


@pytest.mark.parametrize("break_file", [lambda file: file.write_text(file.read_text() + "\n"), Path.unlink])
def test_shard_of_other_files_than_planned_is_not_begun(break_file, home, capsys):
    plan()
    break_file(home / "mine" / "no-yaml" / "scenario.yaml")
    assert run(["shards", "run", "work.json", "--index", "0", "--results", "r"]) == 3
    shown = capsys.readouterr().err
    assert "mine/no-yaml/scenario.yaml is missing, or is not the file for which the work list was planned" in shown
    assert not (home / "r").exists()
    assert run(["shards", "run", "work.json", "--index", "1", "--results", "r"]) == 0


def test_folder_of_the_users_own_files_is_not_read(home):
    plan()
    (home / "files").mkdir()
    (home / "files" / "orders.json").write_text("[1]")
    assert run(["shards", "run", "work.json", "--index", "0", "--results", "r"]) == 0


def test_missing_files_of_the_work_are_an_error(home, capsys):
    plan()
    assert run(["shards", "run", "work.json", "--index", "0", "--files", "none", "--results", "r"]) == 3
    assert "none contains no files of a work list" in capsys.readouterr().err


def test_stored_text_does_not_control_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["shards", "plan", str(SCENARIOS / GOOD), "--shards", "1"]) == 0
    store_report(read_work_list(Path("work.json")), verdict=Verdict.FAIL, headline="\x1b]0;owned\x07\n::error::x")
    assert run(["shards", "collect", "work.json", "--results", "results"]) == 1
    shown = capsys.readouterr().out
    assert "\\u001b]0;owned" in shown
    assert not {"\x1b", "\x07"} & set(shown)
    assert not any(line.startswith("::") for line in shown.splitlines())


def store_report(work, **fields):
    """Store a pass of a work list's only scenario, as `shards run` does."""
    (item,) = work.items
    opening = ShardResult(
        schema_version=RESULT_VERSION, work=work.name, catalogue=work.catalogue, scenario=item.scenario,
        digest=item.digest, shard=0, state="Begun",
    )  # fmt: skip
    FolderStore(Path("results")).write(describe_report(opening, make_report(item, **fields)))
    return item


def test_evidence_is_written_next_to_the_planned_scenario_only(tmp_path, monkeypatch):
    """A report in the store names a file, too: nobody who writes to the store chooses a folder of ours."""
    monkeypatch.chdir(tmp_path)
    assert run(["shards", "plan", str(SCENARIOS / GOOD), "--shards", "1"]) == 0
    item = store_report(read_work_list(Path("work.json")), path="/etc/scenario.yaml")
    recorded = []
    monkeypatch.setattr("scenario_kit.cli.validation.report.record_evidence", recorded.append)
    assert run(["shards", "collect", "work.json", "--results", "results", "--record"]) == 0
    assert [report.validation.path for report in recorded] == [item.path]


def test_scenario_of_a_collection_of_ones_own_is_recorded(tmp_path, monkeypatch, capsys):
    """From outside of the collection, whose apps and faults are found all the same."""
    monkeypatch.chdir(tmp_path)
    own = next(iter(sorted((find_data_root() / "tools/realnode/collection/catalog/scenarios").iterdir())))
    assert run(["shards", "plan", str(own), "--shards", "1"]) == 0
    store_report(read_work_list(Path("work.json")))
    assert run(["shards", "collect", "work.json", "--results", "results", "--record"]) == 0
    assert f"{own.name}: no evidence: plan 'quick' is too weak" in capsys.readouterr().err


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize(
    ("here", "path"),
    [
        ("..", "catalog"),
        ("", "scenarios"),
        ("scenarios/odd", "."),
        ("scenarios/odd", "scenario.yaml"),
        ("apps", "../scenarios"),
    ],
)
def test_paths_from_any_folder_are_kept(inside, here, path, tmp_path, monkeypatch, capsys):
    """In a collection or outside of any, also from the scenario's own folder and with `..`."""
    folder = tmp_path / ("catalog" if inside else "elsewhere")
    shutil.copytree(SCENARIOS / GOOD, folder / "scenarios" / "odd")
    (folder / "apps").mkdir()
    file = folder / "scenarios" / "odd" / "scenario.yaml"
    file.write_text(file.read_text().replace("kind: Scenario", "kind: {"))
    monkeypatch.chdir(folder / here)
    given = path if inside or here != ".." else "elsewhere"
    work, results = str(tmp_path / "work.json"), str(tmp_path / "results")
    assert run(["shards", "plan", given, "--shards", "1", "--out", work]) == 0
    assert run(["shards", "manifests", work]) == 0
    assert run(["shards", "run", work, "--index", "0", "--results", results]) == 0
    capsys.readouterr()
    assert run(["shards", "collect", work, "--results", results, "--runs", str(tmp_path / "runs")]) == 1
    assert "1 scenarios: 1 Fail" in capsys.readouterr().out
    (run_folder,) = (tmp_path / "runs" / "odd").iterdir()
    validation = read_report(run_folder).validation
    assert (folder / here / validation.path).samefile(file)
    assert {finding.position.path for finding in validation.findings if finding.position} == {validation.path}


def test_failed_scenarios_of_a_shard_are_verified_again(home, capsys):
    """The shard is one of all scenarios: one of the failed ones would leave failures out."""
    assert run(["verify", "mine", "--shard", "2/2"]) == 1
    capsys.readouterr()
    assert run(["verify", "mine", "--shard", "2/2", "--rerun-failed"]) == 1
    assert run(["verify", "mine", "--shard", "1/2", "--rerun-failed"]) == 0
    assert "nothing to run" in capsys.readouterr().out


def test_matrix_part_is_verified(home, capsys):
    assert run(["verify", "mine", "--shard", "1/2"]) == 1
    first = capsys.readouterr()
    assert "shard 1 of 2: 1 of 2 scenarios" in first.err
    assert run(["verify", "mine", "--shard", "2/2"]) == 1
    assert {each.name for each in (home / "runs").iterdir()} == {"no-yaml", "unknown-fault"}
    assert run(["verify", "mine", "--shard", "3/3"]) == 0
    assert run(["verify", "mine", "--shard", "3/2"]) == 3
    assert "write NUMBER/COUNT" in capsys.readouterr().err


def test_sigterm_ends_a_shard_with_its_results_kept(home, tmp_path):
    """As a kubelet ends a pod that Kueue preempts."""
    plan()
    code = (
        "import sys, time\n"
        "from scenario_kit.cli.validation import validate\n"
        "def wait(*_):\n    print('waiting', flush=True)\n    time.sleep(60)\n"
        "validate.validate_one = wait\n"
        "from scenario_kit.cli import run\n"
        "sys.exit(run(['shards', 'run', 'work.json', '--index', '0', '--results', 'results']))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=home,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "waiting\n"
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 130
            assert time.monotonic() - began < 10
        finally:
            process.kill()
    (stored,) = (home / "results").glob("*.json")
    assert json.loads(stored.read_text())["state"] == "Begun"
    assert not list(Path(os.environ.get("TMPDIR", "/tmp")).glob(f"scenario-kit-shard-*{process.pid}*"))
