"""What gives the answer away, and what does not."""

import base64
from pathlib import Path

import msgspec
import pytest

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.judge.leaks import (
    ReadableText,
    Token,
    find_leaks,
    has_shown_experiment,
    list_readable,
    list_texts,
    list_tokens,
    report_listable,
    report_unneeded,
)
from scenario_kit.load import load_scenario
from scenario_kit.model import Change, Severity
from scenario_kit.render import resolve

CATALOG = Catalog()


def runbook(name):
    file = find_data_root() / "catalog" / "scenarios" / name / "scenario.yaml"
    return resolve(load_scenario(file).scenario, CATALOG, "app-bcdf", beside=file.parent)


@pytest.fixture(scope="module")
def wrong_port():
    return runbook("product-catalog-wrong-target-port")


def list_leak_codes(sought, text):
    return [f.code for f in find_leaks([ReadableText(where="Pod/a: metadata.name", text=text)], sought)]


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
def test_names_are_found_with_any_separator(word, text, read):
    assert bool(list_leak_codes([Token(text=word, what="a name")], text)) is read


def test_leak_tokens_are_names_and_author_sentences(wrong_port):
    tokens = {t.text: t.what for t in list_tokens(wrong_port)}
    assert tokens["product-catalog-wrong-target-port"] == "the name of the scenario"
    assert tokens["service-target-port-wrong"] == "the type of a fault"
    assert tokens["restore-port"] == "the name of a solution"
    assert "new connections to the catalogue are refused" in tokens


def test_healthy_app_raises_no_alert_in_any_scenario():
    for file in sorted((find_data_root() / "catalog" / "scenarios").glob("*/scenario.yaml")):
        book = resolve(load_scenario(file).scenario, CATALOG, "app-bcdf", beside=file.parent)
        assert find_leaks((r for obj in book.objects for r in list_readable(obj)), list_tokens(book)) == [], (
            file.parent.name
        )


def test_word_of_the_trade_is_no_token(wrong_port):
    assert all("-" in t.text or " " in t.text or t.injector for t in list_tokens(wrong_port))


def test_api_field_written_by_fault_is_no_token():
    quote = runbook("product-catalog-wrong-target-port")
    (fault,) = quote.faults
    rule = {"podAntiAffinity": {"requiredDuringScheduling": []}}
    change = Change.from_json({"patch": {"target": "Deployment/quote", "type": "Strategic", "patch": {"spec": rule}}})
    label = {"metadata": {"annotations": {"wrongPort": "x"}}}
    telling = Change.from_json({"patch": {"target": "Deployment/quote", "type": "Strategic", "patch": label}})

    def sought(name, *changes):
        renamed = msgspec.structs.replace(fault, name=name, changes=changes)
        return {t.text for t in list_tokens(msgspec.structs.replace(quote, faults=(renamed,)))}

    assert "pod-anti-affinity" in sought("pod-anti-affinity")
    assert "pod-anti-affinity" not in sought("pod-anti-affinity", change)
    assert "wrong-port" in sought("wrong-port", telling), "a key of an annotation is the author's own word"


def test_machinery_traces_have_a_separate_code(wrong_port):
    assert list_leak_codes(list_tokens(wrong_port), "scenariokit.io/receipt") == ["SK442"]
    assert list_leak_codes(list_tokens(wrong_port), "restore-port") == ["SK441"]


def test_hidden_experiment_is_no_business_of_the_solver():
    file = Path(__file__).parents[1] / "fixtures" / "language" / "hidden" / "scenario.yaml"
    book = resolve(load_scenario(file).scenario, CATALOG, "app-bcdf", beside=file.parent)
    kind = next(c.operation.experiment["kind"] for f in book.faults for c in f.changes if c.operation.experiment)
    assert list_leak_codes(list_tokens(book), f"{kind} applied") == ["SK442"]
    assert "SK442" in list_leak_codes(list_tokens(book), "chaos-mesh.org/inject")


def test_visible_experiment_action_is_no_leak_token():
    """The manager writes the action into events and annotations of pods, wherever it acts."""
    book = runbook("payment-pod-failure")
    assert "pod-failure" not in {t.text for t in list_tokens(book)}
    assert "payment-pod-failure" in {t.text for t in list_tokens(book)}


def test_secrets_are_read_in_clear_and_names_of_keys_count():
    secret = {
        "kind": "Secret",
        "metadata": {"name": "s", "labels": {"cart-delay": "x"}},
        "data": {"k": base64.b64encode(b"cart-delay").decode()},
    }
    assert list_texts(secret)["data.k"] == "cart-delay"
    (finding,) = find_leaks(list_readable(secret), [Token(text="cart-delay", what="the name of a fault")])
    assert finding.observed == "Secret/s: metadata.labels.; Secret/s: data.k"


def test_fourth_and_later_places_are_counted():
    read = [ReadableText(where=f"Event/{i}: message", text="cart-delay") for i in range(9)]
    (finding,) = find_leaks(read, [Token(text="cart-delay", what="the name of a fault")])
    assert finding.observed.endswith("and 6 more")


def test_every_leak_is_an_error():
    (name,) = find_leaks(
        [ReadableText(where="a", text="cart-delay")], [Token(text="cart-delay", what="the name of a fault")]
    )
    (trace,) = find_leaks([ReadableText(where="a", text="x.io")], [Token(text="x.io", what="a trace", injector=True)])
    assert [(f.code, f.severity) for f in (name, trace, report_listable("pods"), report_unneeded("Pod/a", "b",
    "c"))] == [
        ("SK441", Severity.ERROR), ("SK442", Severity.ERROR), ("SK442", Severity.ERROR), ("SK443", Severity.ERROR),
    ]  # fmt: skip
    assert name.message == "a solver can read the name of a fault: 'cart-delay'"
    assert report_listable("pods").message.endswith("list pods")


def test_observed_value_is_truncated():
    assert report_unneeded("Pod/a", "b", "x" * 300).observed == "x" * 200
    assert "Pod/a: b" in report_unneeded("Pod/a", "b", "c").message


@pytest.mark.parametrize(("places", "observed"), [(1, "p0"), (3, "p0; p1; p2"), (4, "p0; p1; p2; and 1 more")])
def test_three_places_are_named(places, observed):
    read = [ReadableText(where=f"p{i}", text="cart-delay cart-delay") for i in range(places)]
    assert find_leaks([*read, read[0]], [Token(text="cart-delay", what="a name")])[0].observed == observed


def test_leaked_tokens_are_reported_in_order():
    sought = [Token(text=text, what="a name") for text in ("one-a", "two-b", "three-c")]
    read = [ReadableText(where="x", text="three-c"), ReadableText(where="y", text="ONE-A, three-c")]
    assert [f.observed for f in find_leaks(read, sought)] == ["y", "x; y"]
    assert find_leaks(read, []) == []


@pytest.mark.parametrize(
    ("obj", "list_leak_codes"),
    [
        (
            {"kind": "Pod", "metadata": {"name": "p", "labels": {}}, "spec": {"args": ["a", {"b": "c"}], "n": 3}},
            {
                ".": "kind metadata spec",
                "kind": "Pod",
                "metadata.": "name labels",
                "metadata.name": "p",
                "spec.": "args n",
                "spec.args[0]": "a",
                "spec.args[1].": "b",
                "spec.args[1].b": "c",
            },
        ),
        ({"kind": "Secret", "data": {"k": "!"}}, {".": "kind data", "kind": "Secret", "data.": "k", "data.k": "!"}),
        (
            {"kind": "Secret", "data": {"k": "/w=="}},
            {".": "kind data", "kind": "Secret", "data.": "k", "data.k": "\ufffd"},
        ),
        ({"kind": "Secret", "data": {"k": None}}, {".": "kind data", "kind": "Secret", "data.": "k", "data.k": ""}),
        ({"kind": "Secret", "data": None}, {".": "kind data", "kind": "Secret"}),
        (
            {"kind": "ConfigMap", "data": {"k": "YQ=="}},
            {".": "kind data", "kind": "ConfigMap", "data.": "k", "data.k": "YQ=="},
        ),
    ],
)
def test_list_texts_yields_path_and_text(obj, list_leak_codes):
    assert list_texts(obj) == list_leak_codes


def test_readable_text_names_its_object():
    list_leak_codes = list(list_readable({"kind": "Pod", "metadata": {"name": "p"}}))
    assert ReadableText(where="Pod/p: metadata.name", text="p") in list_leak_codes
    assert next(list_readable({"metadata": {"a": "b"}})).where == "/: ."


@pytest.mark.parametrize(
    ("visibility", "chaos", "seen"),
    [("Visible", True, True), ("Hidden", True, False), ("Visible", False, False), ("Hidden", False, False)],
)
def test_visible_experiment_is_shown(wrong_port, visibility, chaos, seen):
    experiment = {"kind": "PodChaos", "metadata": {"name": "e"}, "spec": {}}
    changes = (Change.from_json({"chaos": experiment}),) if chaos else wrong_port.faults[0].changes
    fault = msgspec.structs.replace(wrong_port.faults[0], visibility=visibility, changes=changes)
    assert has_shown_experiment(msgspec.structs.replace(wrong_port, faults=(fault,))) is seen


@pytest.mark.parametrize("how", ["create", "apply", "patch"])
def test_tokens_cover_fields_of_every_write_operation(wrong_port, how):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "spec": [{"podAntiAffinity": {}}]}
    patch = {"target": "Deployment/quote", "type": "Merge", "patch": body}
    change = Change.from_json({how: patch if how == "patch" else body})
    fault = msgspec.structs.replace(wrong_port.faults[0], name="pod-anti-affinity", changes=(change,))
    assert "pod-anti-affinity" not in {
        t.text for t in list_tokens(msgspec.structs.replace(wrong_port, faults=(fault,)))
    }


def list_hidden_tokens(wrong_port, *visibilities):
    faults = tuple(
        msgspec.structs.replace(
            wrong_port.faults[0],
            name=f"f{i}",
            visibility=visibility,
            changes=(Change.from_json({"chaos": {"kind": "PodChaos", "metadata": {"name": f"e-{i}"}, "spec": {}}}),),
        )
        for i, visibility in enumerate(visibilities)
    )
    return {t.text: t for t in list_tokens(msgspec.structs.replace(wrong_port, faults=faults)) if t.injector}


@pytest.mark.parametrize(
    ("visibilities", "words"),
    [
        (["Hidden"], {"PodChaos", "e-0", "chaos-mesh.org"}),
        (["Hidden", "Visible"], {"e-0"}),
        (["Visible"], set()),
    ],
)
def test_hidden_experiments_yield_tokens_of_all_fields(wrong_port, visibilities, words):
    list_leak_codes = list_hidden_tokens(wrong_port, *visibilities)
    assert list_leak_codes.keys() - {"scenariokit.io"} == words
    assert all(token.what for token in list_leak_codes.values())
