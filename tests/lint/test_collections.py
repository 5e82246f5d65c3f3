"""Demands on scenarios come from the collection file, not from a folder's name."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_collections, find_data_root
from scenario_kit.errors import UsageError
from scenario_kit.lint import lint_file
from tests.lint.test_rules import base

FAULT = find_data_root() / "catalog" / "faults" / "deployment-scaled-to-zero" / "fault.yaml"


def incomplete(folder: Path) -> Path:
    """A scenario without an author, in a folder of its name."""
    document = base()
    document["spec"].pop("authors")
    path = folder / document["metadata"]["name"] / "scenario.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def list_codes(path: Path) -> list[tuple[str, str]]:
    return [(f.code, str(f.severity)) for f in lint_file(path, Catalog()) if f.code != "SK216"]


@pytest.mark.parametrize("folder", ["scenarios", "catalog/scenarios", "drafts", "."])
def test_folder_name_does_not_affect_rules(folder: str, tmp_path: Path) -> None:
    assert list_codes(incomplete(tmp_path / folder)) == []


@pytest.mark.parametrize("folder", ["scenarios", "catalog/scenarios", "drafts", "."])
@pytest.mark.parametrize(("demand", "found"), [("Merged", [("SK603", "Error")]), ("Draft", [])])
def test_collection_file_sets_the_demands(folder: str, demand: str, found: list[object], tmp_path: Path) -> None:
    (tmp_path / "collection.yaml").write_text(f"scenarios: {demand}\n")
    assert list_codes(incomplete(tmp_path / folder)) == found


def test_nearest_collection_counts(tmp_path: Path) -> None:
    (tmp_path / "collection.yaml").write_text("scenarios: Merged\n")
    path = incomplete(tmp_path / "drafts")
    (tmp_path / "drafts" / "collection.yaml").write_text("scenarios: Draft\n")
    assert list_codes(path) == []


@pytest.mark.parametrize("text", ["", "scenarios: merged\n", "scenarios: [Merged]\n", "Merged\n", "strict: true\n"])
def test_invalid_collection_requirement_is_reported(text: str, tmp_path: Path) -> None:
    (tmp_path / "collection.yaml").write_text(text)
    with pytest.raises(UsageError, match="does not declare the collection's requirement") as reported:
        lint_file(incomplete(tmp_path), Catalog())
    assert "`scenarios: Merged` or `scenarios: Draft`" in reported.value.fix


def test_merging_requires_a_complete_scenario(tmp_path: Path) -> None:
    assert [f.code for f in lint_file(incomplete(tmp_path), Catalog(merging=True)) if f.code != "SK216"] == ["SK603"]


def write_collection(root: Path) -> Path:
    """A collection with a fault type of its own, and a scenario that uses it."""
    fault = yaml.safe_load(FAULT.read_text()) | {"name": "replicas-gone"}
    file = root / "catalog" / "faults" / "replicas-gone" / "fault.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(yaml.safe_dump(fault, sort_keys=False))
    document = base()
    document["spec"]["faults"][0] = {"name": "catalog-port", "type": "replicas-gone", "target": "Deployment/email"}
    path = root / "catalog" / "scenarios" / "mail-gone" / "scenario.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def test_collection_of_a_file_is_found_upwards(tmp_path: Path) -> None:
    path = write_collection(tmp_path / "incidents")
    assert "SK108" not in [code for code, _ in list_codes(path)]
    assert find_collections([path])[0] == tmp_path / "incidents"


def test_collection_is_found_in_parent_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_collection(tmp_path / "incidents")
    monkeypatch.chdir(path.parent)
    assert "replicas-gone" in Catalog().faults()
    monkeypatch.chdir(tmp_path)
    assert "replicas-gone" not in Catalog().faults()


def test_unrelated_catalog_folder_is_no_collection(tmp_path: Path) -> None:
    (tmp_path / "catalog" / "books").mkdir(parents=True)
    assert find_collections([tmp_path / "catalog" / "books" / "scenario.yaml"]) == (find_data_root(),)
