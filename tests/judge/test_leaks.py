"""What gives the answer away, and what does not."""

import base64
from pathlib import Path

import msgspec
import pytest

from scenario_kit.catalog import Catalog, data_root
from scenario_kit.judge.leaks import Readable, Token, leaks, readable, texts, tokens
from scenario_kit.load import load_scenario
from scenario_kit.model import Change
from scenario_kit.render import resolve

CATALOG = Catalog()


def runbook(name):
    file = data_root() / "catalog" / "scenarios" / name / "scenario.yaml"
    return resolve(load_scenario(file).scenario, CATALOG, "app-bcdf", beside=file.parent)


@pytest.fixture(scope="module")
def wrong_port():
    return runbook("product-catalog-wrong-target-port")


def found(sought, text):
    return [f.code for f in leaks([Readable(where="Pod/a: metadata.name", text=text)], sought)]


@pytest.mark.parametrize(
    ("word", "text", "read"),
    [
        ("wrong-target-port", "wrong-target-port", True),
        ("wrong-target-port", "app=WrongTargetPort-7f8", True),
        ("wrong-target-port", "wrong_target_port", True),
        ("wrong-target-port", "the wrong target port", False),
        ("wrong-target-port", "wrong-target-ports", False),
        ("cart-delay", "mycart-delay", False),
        ("new connections are refused", "because new  connections are\nrefused today", True),
        ("scenariokit.io", "scenariokit.io/trial", True),
    ],
)
def test_names_are_found_however_they_are_joined(word, text, read):
    assert bool(found([Token(text=word, what="a name")], text)) is read


def test_the_tokens_of_a_scenario_are_its_names_and_its_author_s_sentences(wrong_port):
    said = {t.text: t.what for t in tokens(wrong_port)}
    assert said["product-catalog-wrong-target-port"] == "the name of the scenario"
    assert said["service-target-port-wrong"] == "the type of a fault"
    assert said["restore-port"] == "the name of a solution"
    assert "new connections to the catalogue are refused" in said


def test_the_healthy_app_says_nothing_in_any_scenario_of_the_catalogue():
    for file in sorted((data_root() / "catalog" / "scenarios").glob("*/scenario.yaml")):
        book = resolve(load_scenario(file).scenario, CATALOG, "app-bcdf", beside=file.parent)
        assert leaks((r for obj in book.objects for r in readable(obj)), tokens(book)) == [], file.parent.name


def test_a_word_of_the_trade_is_no_token(wrong_port):
    assert all("-" in t.text or " " in t.text or t.injector for t in tokens(wrong_port))


def test_a_field_of_the_api_that_the_fault_writes_is_no_token():
    quote = runbook("product-catalog-wrong-target-port")
    (fault,) = quote.faults
    rule = {"podAntiAffinity": {"requiredDuringScheduling": []}}
    change = Change.from_json({"patch": {"target": "Deployment/quote", "type": "Strategic", "patch": {"spec": rule}}})
    label = {"metadata": {"annotations": {"wrongPort": "x"}}}
    telling = Change.from_json({"patch": {"target": "Deployment/quote", "type": "Strategic", "patch": label}})

    def sought(name, *changes):
        renamed = msgspec.structs.replace(fault, name=name, changes=changes)
        return {t.text for t in tokens(msgspec.structs.replace(quote, faults=(renamed,)))}

    assert "pod-anti-affinity" in sought("pod-anti-affinity")
    assert "pod-anti-affinity" not in sought("pod-anti-affinity", change)
    assert "wrong-port" in sought("wrong-port", telling), "a key of an annotation is the author's own word"


def test_traces_of_the_machinery_have_a_code_of_their_own(wrong_port):
    assert found(tokens(wrong_port), "scenariokit.io/receipt") == ["SK442"]
    assert found(tokens(wrong_port), "restore-port") == ["SK441"]


def test_a_hidden_experiment_is_no_business_of_the_solver():
    file = Path(__file__).parents[1] / "fixtures" / "language" / "hidden" / "scenario.yaml"
    book = resolve(load_scenario(file).scenario, CATALOG, "app-bcdf", beside=file.parent)
    kind = next(c.chaos["kind"] for f in book.faults for c in f.changes if c.chaos)
    assert found(tokens(book), f"{kind} applied") == ["SK442"]
    assert "SK442" in found(tokens(book), "chaos-mesh.org/inject")


def test_what_a_visible_experiment_says_is_no_secret():
    """The manager writes the action into events and annotations of pods, wherever it acts."""
    book = runbook("payment-pod-failure")
    assert "pod-failure" not in {t.text for t in tokens(book)}
    assert "payment-pod-failure" in {t.text for t in tokens(book)}


def test_secrets_are_read_in_clear_and_names_of_keys_count():
    secret = {
        "kind": "Secret",
        "metadata": {"name": "s", "labels": {"cart-delay": "x"}},
        "data": {"k": base64.b64encode(b"cart-delay").decode()},
    }
    assert texts(secret)["data.k"] == "cart-delay"
    (finding,) = leaks(readable(secret), [Token(text="cart-delay", what="the name of a fault")])
    assert finding.observed == "Secret/s: metadata.labels.; Secret/s: data.k"


def test_places_beyond_the_third_are_counted():
    read = [Readable(where=f"Event/{i}: message", text="cart-delay") for i in range(9)]
    (finding,) = leaks(read, [Token(text="cart-delay", what="the name of a fault")])
    assert finding.observed.endswith("and 6 more")
