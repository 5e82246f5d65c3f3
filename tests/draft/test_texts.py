"""Texts of a draft that solvers read."""

import re

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.draft import texts
from scenario_kit.draft.yaml_format import dump_document
from scenario_kit.load.yaml.document import parse
from scenario_kit.model import Fault, Reference
from scenario_kit.model.authored.scenario import AlertExpectation

BROKEN = Fault(
    name="main", type="pod-kill", version=1, target=Reference("Deployment", "cart"), changes=(), effect=(), entities=()
)


@pytest.mark.parametrize("text", ["on", "y", "Off", "012", "6e09", "1_000", "0x1F", "true", "~", "", "12"])
def test_text_is_quoted_for_all_yaml_parsers(text: str) -> None:
    line = dump_document({"entity": [{"variant": text, "name": "plain"}]})
    assert line == f"entity:\n- {{variant: '{text}', name: plain}}\n"
    assert not parse(line, "").positions.yaml11_values
    assert parse(line, "").data == {"entity": [{"variant": text, "name": "plain"}]}


def test_solver_texts_name_no_component() -> None:
    """An ordinary word is a name somewhere: hotel-reservation has a service that is called user."""
    catalog = Catalog()
    names = {c.name for app in catalog.apps() for v in catalog.versions(app) for c in catalog.app(app, v).components}
    alerts = ("HighRequestErrorRate", "HighRequestLatency", "NoRequestsReceived", "KubePodNotReady")
    messages = [
        texts.write_question(),
        *(texts.write_brief([AlertExpectation(name=a, alert_class="MustFire")]) for a in alerts),
    ]
    assert len(set(messages)) == 5
    assert [name for text in messages for name in sorted(names & set(re.findall(r"[\w-]+", text.lower())))] == []


@pytest.mark.parametrize("name", Catalog().faults())
def test_title_goes_on_in_lower_case_behind_the_target(name: str) -> None:
    subject, _, rest = texts.write_title(Catalog().fault(name), BROKEN).partition(": ")
    first = rest.split()[0]
    assert subject == "cart"
    assert first.islower() or first.isupper()
