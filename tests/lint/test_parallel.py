"""Files judged by several processes: the same findings in the same order, the same errors."""

import shutil

import pytest

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.errors import UsageError
from scenario_kit.lint import lint_files
from scenario_kit.lint.evaluation import parallel

SHIPPED = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero"


@pytest.fixture
def files(tmp_path):
    made = []
    for number in range(8):
        folder = tmp_path / f"cart-{number}"
        shutil.copytree(SHIPPED, folder)
        file = folder / "scenario.yaml"
        wrong = "type: deployment-scaled-to-zeor" if number % 2 else "type: deployment-scaled-to-zero"
        text = file.read_text().replace("type: deployment-scaled-to-zero", wrong)
        file.write_text(text.replace("name: cart-scaled-to-zero", f"name: cart-{number}"))
        made.append(file)
    return made


def test_findings_do_not_depend_on_process_count(files, monkeypatch):
    alone = lint_files(files, Catalog())
    monkeypatch.setattr(parallel, "_MIN_PARALLEL", 2)
    assert lint_files(files, Catalog()) == alone
    assert {f.position.path for f in alone if f.code == "SK108"} == {str(f) for f in files[1::2]}


def test_missing_file_is_reported_from_parallel_lint(files, monkeypatch):
    monkeypatch.setattr(parallel, "_MIN_PARALLEL", 2)
    with pytest.raises(UsageError, match="gone"):
        lint_files([*files, files[0].parent / "gone.yaml"], Catalog())
