"""Fault types that come with a Validation: judged as files are, before the operator's own, and gone with it."""

import gc
import tempfile
from pathlib import Path

import pytest

from scenario_kit.campaign.planning.embedded_faults import add_faults
from scenario_kit.campaign.planning.spec import EmbeddedFault
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.lint.rules.security.admission_findings import list_breaches

CATALOG = Catalog([find_data_root()])
SHIPPED = (find_data_root() / "catalog" / "faults" / "deployment-scaled-to-zero" / "fault.yaml").read_text()
OWN = find_data_root() / "catalog" / "scenarios" / "hotel-all-errors" / "faults" / "registry-restarted" / "fault.yaml"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def embed(name, text):
    return [EmbeddedFault(name=name, definition=text)]


def test_without_any_the_catalogue_is_the_same():
    assert add_faults(CATALOG, ()) == (CATALOG, ())


def test_one_of_its_own_is_found_and_goes_with_the_catalogue(folder):
    extended, findings = add_faults(CATALOG, embed("registry-restarted", OWN.read_text()))
    assert findings == ()
    assert extended.fault("registry-restarted").name == "registry-restarted"
    assert "registry-restarted" not in CATALOG.faults()
    assert list(folder.iterdir())
    del extended
    list_breaches.cache_clear()  # rules remember the last few files
    gc.collect()
    assert not list(folder.iterdir())


def test_one_comes_before_that_of_the_catalogue():
    extended, _ = add_faults(CATALOG, embed("deployment-scaled-to-zero", SHIPPED.replace("version: 1", "version: 77")))
    assert extended.fault("deployment-scaled-to-zero").version == 77
    assert CATALOG.fault("deployment-scaled-to-zero").version == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense: [", ""),
        ("", ""),
        ("- a list", ""),
        (SHIPPED.replace("targets:", "targest:"), "targest"),
        (SHIPPED.replace("name: deployment-scaled-to-zero", "name: another"), ""),
    ],
)
def test_a_mistake_has_its_place_in_the_file_that_it_was(text, message):
    _, findings = add_faults(CATALOG, embed("deployment-scaled-to-zero", text))
    assert findings
    assert message in " ".join(f.message for f in findings)
    assert {Path(f.position.path) for f in findings if f.position} == {
        Path("faults/deployment-scaled-to-zero/fault.yaml")
    }


@pytest.mark.parametrize("name", ["../../etc", "a/b", "", "Upper", "a" * 64, "-a"])
def test_a_name_is_no_path(folder, name):
    catalog, findings = add_faults(CATALOG, embed(name, SHIPPED))
    assert catalog is CATALOG
    assert "called" in findings[0].message
    assert not list(folder.iterdir())
