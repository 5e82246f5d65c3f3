"""Every addition to an input is reported: nothing is dropped silently."""

from __future__ import annotations

import copy
import random
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.importers import FORMATS, ImportResult, InputFile, read_inputs, run_import
from scenario_kit.importers.drafting import DraftWriter

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples" / "import"
DOCUMENTS = {
    "chaos-mesh": "chaos-mesh.yaml", "litmus": "litmus.yaml", "krkn": "krkn.yaml", "promrules": "rules.yaml",
    "itbench": "itbench/scenario.yaml",
}  # fmt: skip
CATALOG = Catalog()
KEYS = st.from_regex(r"zz[a-zA-Z]{3,8}", fullmatch=True)
FIELDS = [
    "apiVersion", "kind", "metadata", "spec", "name", "id", "config", "groups", "rules", "faults", "applications",
    "injections", "args", "templates", "selector", "experiments", "scenarios",
]  # fmt: skip
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["Workflow", "chaos-mesh.org/v1alpha1", "otel-demo"])
)
DOCUMENT = st.recursive(
    VALUES,
    lambda part: st.one_of(st.lists(part, max_size=3), st.dictionaries(st.sampled_from(FIELDS), part, max_size=5)),
    max_leaves=15,
)
#: Each line repeats the one before eight times.
LETTERS = "abcdefghi"
BOMB = "a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
    f"{own}: &{own} [{', '.join([f'*{before}'] * 8)}]\n" for before, own in pairwise(LETTERS)
)


def list_mappings(node, place=()):
    if isinstance(node, dict):
        yield place, node
    for step, part in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from list_mappings(part, (*place, step))


def names(result: ImportResult, key: str) -> bool:
    return any(key in each.place or any(key in place for place in each.within) for each in result.decisions)


@pytest.fixture
def unwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip drafts: decisions on the input do not depend on them."""
    monkeypatch.setattr(DraftWriter, "write", lambda writer, intent: None)


@pytest.mark.usefixtures("unwritten")
@pytest.mark.parametrize("format", DOCUMENTS)
def test_added_key_is_refused_at_every_level(format: str) -> None:
    for document in yaml.safe_load_all((EXAMPLES / DOCUMENTS[format]).read_text()):
        for number, (place, _) in enumerate(list_mappings(document)):
            for value in (1, "a", None, {}, [], {"b": [1]}):
                changed = copy.deepcopy(document)
                list(list_mappings(changed))[number][1]["zzAdded"] = value
                result = run_import(format, [InputFile("x.yaml", yaml.safe_dump(changed))], CATALOG)
                assert names(result, "zzAdded"), (place, value)


@pytest.mark.usefixtures("unwritten")
@pytest.mark.parametrize("format", DOCUMENTS)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6), key=KEYS, value=VALUES)
def test_added_key_is_refused(format: str, seed: int, key: str, value: object) -> None:
    documents = list(yaml.safe_load_all((EXAMPLES / DOCUMENTS[format]).read_text()))
    changed = copy.deepcopy(random.Random(seed).choice(documents))
    _, mapping = random.Random(seed + 1).choice(list(list_mappings(changed)))
    mapping[key] = value
    result = run_import(format, [InputFile("x.yaml", yaml.safe_dump(changed))], CATALOG)
    assert names(result, key)


@pytest.mark.usefixtures("unwritten")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(format=st.sampled_from(sorted(FORMATS)), text=st.one_of(st.text(max_size=200), DOCUMENT.map(yaml.safe_dump)))
def test_arbitrary_input_does_not_crash_importers(format: str, text: str) -> None:
    try:
        result = run_import(format, [InputFile("x", text)], CATALOG)
    except AuthoringError:
        return  # that it has a place is shown below
    assert all(each.position.line > 0 for each in result.decisions)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "aliases expand the file"),
        ("[" * 900 + "]" * 900, "nests deeper"),
        ("kind: [unclosed", "not YAML"),
        ("a: 1\na: 2", "written twice"),
        ("x: !!python/object/apply:os.system [echo]", "tag"),
        ("a: &a\n  <<: *a", "part of what it repeats"),
    ],
)
def test_hostile_document_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        run_import("chaos-mesh", [InputFile("x.yaml", text)], CATALOG)
    assert message in caught.value.findings[0].message
    assert caught.value.findings[0].position.line >= 1


@pytest.mark.parametrize("text", ["(" * 3000, "def f(:", "x = '\0'", "-" * 100_000 + "1"])
def test_hostile_code_is_refused(text: str) -> None:
    with pytest.raises(AuthoringError, match="Python"):
        run_import("sregym", [InputFile("x.py", text)], CATALOG)


def import_folder(folder: Path) -> ImportResult:
    return run_import("chaos-mesh", read_inputs(folder, (".yaml",)), CATALOG)


def test_empty_folders_and_large_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains no"):
        read_inputs(tmp_path, (".yaml",))
    with pytest.raises(UsageError, match="No such file"):
        read_inputs(tmp_path / "absent.yaml", (".yaml",))
    (tmp_path / "large.yaml").write_text("a: " + "x" * 600_000)
    with pytest.raises(AuthoringError, match="larger"):
        read_inputs(tmp_path / "large.yaml", (".yaml",))
    with pytest.raises(AuthoringError, match="larger"):
        import_folder(tmp_path)
    (tmp_path / "large.yaml").unlink()
    (tmp_path / "link.yaml").symlink_to("/etc/passwd")
    with pytest.raises(AuthoringError, match="link"):
        import_folder(tmp_path)


def test_unreadable_file_of_a_folder_is_refused_and_others_are_imported(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text((EXAMPLES / "chaos-mesh.yaml").read_text())
    (tmp_path / "template.yaml").write_text("a: b\nkind: {{ .Values.kind }}\n")
    (tmp_path / "large.yaml").write_text("a: " + "x" * 600_000)

    result = import_folder(tmp_path)

    assert len(result.drafts) == 2
    refused = {Path(d.position.path).name: d for d in result.decisions if d.treatment == "Refused" and d.place == "."}
    assert "larger" in refused["large.yaml"].reason
    assert refused["template.yaml"].position.line == 2
    assert all(each.fix for each in refused.values())


def test_unreadable_problem_of_a_folder_is_refused() -> None:
    files = [InputFile("good.py", (EXAMPLES / "sregym.py").read_text()), InputFile("bad.py", "x = 1\ndef f(:")]
    result = run_import("sregym", files, CATALOG)

    assert result.drafts
    (refused,) = [each for each in result.decisions if each.position.path == "bad.py"]
    assert (refused.treatment, refused.position.line) == ("Refused", 2)
