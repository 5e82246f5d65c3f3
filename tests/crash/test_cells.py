"""Cells of crash tests: counted writes, disturbances, defects, and coverage of operations."""

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.model.authored.change import list_operations
from tools.crash.cells import (
    DEPLOY,
    DISTURBANCES,
    EVERY,
    Cell,
    Outcome,
    Recording,
    Write,
    build_cells,
    compute_digest,
    format_table,
    is_disturbed,
    is_write,
    sample_cells,
)
from tools.crash.subjects import CHANGES, build_runbook, plan_trial

PODS = "/api/v1/namespaces/otel-demo-abcd/pods"
PUT, POST = Write(method="PUT", path=PODS + "/a"), Write(method="POST", path=PODS)
PATCHED = "/apis/scenariokit.io/v1alpha1/namespaces/scenario-kit/trials/a/status"
CELL = Cell(operation="scale", disturbance="killed-after", number=3)


@pytest.mark.parametrize(
    ("method", "path", "query", "counts"),
    [
        ("POST", PODS, "", True),
        ("PATCH", PODS + "/a/status", "", True),
        ("DELETE", PODS + "/a", "", True),
        ("GET", PODS, "watch=true", False),
        ("POST", PODS, "dryRun=All", False),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", False),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", "", False),
        ("POST", "/api/v1/namespaces/a/events", "", False),
    ],
)
def test_is_write_selects_trial_writes(method, path, query, counts):
    assert is_write(method, path, query) is counts


def test_each_write_has_a_cell_per_disturbance_without_create_conflicts():
    cells = build_cells({DEPLOY: [POST, PUT]})
    assert len([cell for cell in cells if cell.number != EVERY]) == 2 * len(DISTURBANCES) - 1
    assert Cell(operation=DEPLOY, disturbance="conflict", number=1) not in cells


def test_install_writes_are_disturbed_once():
    other = Write(method="PUT", path=PUT.path.replace("abcd", "wxyz"))
    cells = build_cells({DEPLOY: [POST, PUT], "scale": [POST, other], "patch": [POST, PUT, other]}, ["killed-before"])
    assert [(c.operation, c.number) for c in cells] == [
        (DEPLOY, 1), (DEPLOY, 2), ("patch", 3), (DEPLOY, EVERY), ("scale", EVERY), ("patch", EVERY),
    ]  # fmt: skip


def test_write_is_disturbed_once_and_its_retry_passes():
    first, second = (Write(method="PATCH", path=PATCHED, digest=digest) for digest in "ab")
    made = [first, POST, first, second, POST, second]
    heads = [made[:n] for n in range(1, len(made) + 1)]
    single = Cell(operation="scale", disturbance="killed-after", number=3)
    every = Cell(operation="scale", disturbance="unavailable", number=EVERY)
    assert [is_disturbed(single, head) for head in heads] == [False, False, True, False, False, False]
    assert [is_disturbed(every, head) for head in heads] == [True, True, False, True, False, False]
    assert is_disturbed(every, [POST, Write(method="POST", path=POST.path, name="b")])
    refused = Cell(operation="scale", disturbance="conflict", number=EVERY)
    assert [is_disturbed(refused, head) for head in heads] == [True, False, False, True, False, False]


def test_write_that_differs_on_each_retry_succeeds_eventually():
    every = Cell(operation="scale", disturbance="killed-before", number=EVERY)
    made = [Write(method="PATCH", path=PATCHED, digest=str(n)) for n in range(40)]
    assert not is_disturbed(every, made)


def test_time_of_day_is_no_content():
    early, late = (b'{"at": "2026-01-01T00:00:0%d.5Z", "n": 1}' % n for n in (1, 2))
    assert compute_digest(early) == compute_digest(late) != compute_digest(early.replace(b"1}", b"2}"))


def test_sample_has_every_operation_and_disturbance():
    every = build_cells({name: [PUT] * 20 for name in ("scale", "patch")})
    chosen = sample_cells(every, 4 * len(DISTURBANCES), seed=1)
    assert {(c.operation, c.disturbance) for c in chosen} == {(c.operation, c.disturbance) for c in every}
    assert sample_cells(every, 5, 7) == sample_cells(every, 5, 7)
    assert len(sample_cells(every, 10_000, 1)) == len(every)


@pytest.mark.parametrize(
    ("fields", "defect"),
    [
        ({"outcome": "Held"}, ""),
        ({"outcome": "Infra", "message": "slow"}, "Infra: slow"),
        ({"outcome": ""}, "no end: "),
        ({"outcome": "Held", "left": ("otel-demo-abcd",)}, "left behind: otel-demo-abcd"),
        ({"outcome": "Held", "jobs": 2}, "a command ran 2 times"),
        ({"outcome": "Held", "ends": ("operator 7 ended",)}, "operator 7 ended"),
        ({"outcome": "Infra", "write": None}, ""),
    ],
    ids=["held", "not held", "never ended", "residue", "twice", "crash", "fewer writes than that"],
)
def test_outcome_defect_follows_from_its_fields(fields, defect):
    outcome = Outcome(**{"cell": CELL, "write": PUT, **fields})
    assert outcome.defect == defect


@pytest.mark.parametrize(
    ("disturbance", "number", "defect"),
    [
        ("unavailable", EVERY, ""),
        ("unavailable", 3, "Infra: slow"),
        ("killed-after", EVERY, "Infra: slow"),
        ("watches-closed", EVERY, "Infra: slow"),
    ],
)
def test_infra_outcome_is_allowed_only_if_every_write_fails(disturbance, number, defect):
    cell = Cell(operation="scale", disturbance=disturbance, number=number)
    assert Outcome(cell=cell, write=PUT, outcome="Infra", message="slow").defect == defect
    assert Outcome(cell=cell, write=PUT, outcome="Broken", message="b").defect == "Broken: b"


def test_table_counts_and_names_failed_cells():
    good = Outcome(cell=CELL, write=PUT, outcome="Held")
    bad = Outcome(cell=Cell(operation="run", disturbance="conflict", number=1), write=POST, outcome="Held", jobs=2)
    often = Outcome(
        cell=Cell(operation="run", disturbance="conflict", number=EVERY), write=PUT, outcome="Held", times=9
    )
    lines = format_table([good, bad, often]).splitlines()
    assert lines[0].split() == ["operation", *DISTURBANCES]
    assert lines[1].split() == ["run", "0/1"]
    assert lines[2].split() == ["scale", "1/1"]
    assert lines[3].split() == ["each", "write", "of", "all", "1/1", "(9)"]
    assert lines[5:] == ["3 cells, 11 disturbances, 1 wrong", f"run, write 1 conflict ({POST}): a command ran 2 times"]


def test_every_change_operation_has_a_trial():
    assert set(CHANGES) - {DEPLOY} == set(list_operations())


@pytest.mark.parametrize("operation", CHANGES)
def test_trial_undoes_its_change(operation):
    runbook = build_runbook(operation, Catalog(), "app")
    kinds = [step.kind for step in plan_trial(operation, runbook, 1).steps]
    assert kinds[0] == "deploy"
    assert kinds[-2:] == ["teardown", "expectClean"]
    assert kinds[1:-2] in ([], ["change", "undoChange"], ["inject", "change"])


def test_only_accepted_jobs_are_counted():
    job = Write(method="POST", path="/apis/batch/v1/namespaces/a/jobs")
    assert Recording(writes=(job, job, PUT), accepted=(job, PUT)).jobs == 1
