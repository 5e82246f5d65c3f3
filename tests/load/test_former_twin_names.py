"""Former names in ``twin.yaml``: reported with their place, and rewritten together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from scenario_kit.catalog import find_data_root
from scenario_kit.errors import AuthoringError
from scenario_kit.lint.renaming import rename_former
from scenario_kit.load.schema.former_names import load_former_twin_names
from scenario_kit.load.twin import list_former_names, load_twin
from scenario_kit.model.twin import TwinDocument

TWIN = Path("app/twin.yaml")
TEXT = """\
physics: {sigma: 0.5}  # of all
components:
  web:
    image: web
    blind: true
    operations:
      shared:
        blind: [a]
        shrugSeconds: 2
        steps: [{call: box/get, spoils: true, steps: [{call: box/put, blind: true}]}]
edges:
- {caller: web, callee: box, protocol: tcp, address: {of: web, env: A}, "oneByOne": true, shared: false}
load: {component: web, entry: web/shared, users: {default: 1}, routes: {shared: {perIteration: 1}}}
versions:
  "2.0":
    components: {web: {registers: [{registry: web, name: shared}]}}
"""


def test_all_fields_of_a_file_are_rewritten() -> None:
    renamed = rename_former(TEXT, TWIN)

    new = yaml.safe_load(renamed.text)
    web = new["components"]["web"]
    assert renamed.text.splitlines()[0] == "constants: {sigma: 0.5}  # of all"
    assert web["unsetStatus"] is True
    assert web["operations"]["shared"]["unsetStatus"] == ["a"]
    assert web["operations"]["shared"]["ignoreFailureAfterSeconds"] == 2
    assert web["operations"]["shared"]["steps"][0]["cacheFailures"] is True
    assert web["operations"]["shared"]["steps"][0]["steps"][0]["unsetStatus"] is True
    assert new["edges"][0]["serializeConnects"] is True
    assert new["edges"][0]["reuseConnection"] is False
    assert new["edges"][0]["address"] == {"component": "web", "env": "A"}
    assert new["versions"]["2.0"]["components"]["web"]["registrations"] == [{"registry": "web", "name": "shared"}]
    assert new["load"]["routes"] == {"shared": {"perIteration": 1}}
    assert {finding.code for finding in renamed.corrected} == {"SK138"}
    assert len(renamed.corrected) == len(list_former_names(yaml.safe_load(TEXT)))
    assert rename_former(renamed.text, TWIN) == (renamed.text, ())


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_former_name_is_an_error_with_its_position(tmp_path: Path, version: str) -> None:
    path = tmp_path / "twin.yaml"
    path.write_text(TEXT)

    with pytest.raises(AuthoringError) as refused:
        load_twin(path, yaml.safe_load(TEXT), "shop", version)

    messages = [(f.position.line, f.position.column, f.message) for f in refused.value.findings]
    assert messages[0] == (1, 1, "`physics` is now `constants` in the document")
    assert messages[1] == (5, 5, "`blind` is now `unsetStatus` in `components.web`")
    assert all("lint --fix" in f.fix for f in refused.value.findings)


def test_unknown_field_is_still_reported(tmp_path: Path) -> None:
    path = tmp_path / "twin.yaml"
    path.write_text(text := rename_former(TEXT, TWIN).text.replace("reuseConnection", "reuse"))

    with pytest.raises(AuthoringError, match="`reuse` is not a field of `edges"):
        load_twin(path, yaml.safe_load(text), "shop", "1.0")


def _list_types() -> dict[str, Any]:
    _, types = msgspec.json.schema_components([TwinDocument], ref_template="{name}")
    return types


FORMER_NAMES = load_former_twin_names()


@pytest.mark.parametrize(("kind", "old"), [(kind, old) for kind, names in FORMER_NAMES.items() for old in names])
def test_renamed_fields_table_maps_to_current_fields(kind: str, old: str) -> None:
    fields = _list_types()[kind]["properties"]
    assert FORMER_NAMES[kind][old] in fields
    assert old not in fields


def test_catalogue_has_no_former_names() -> None:
    for path in (find_data_root() / "catalog" / "apps").glob("*/twin.yaml"):
        assert not list_former_names(yaml.safe_load(path.read_text()))
