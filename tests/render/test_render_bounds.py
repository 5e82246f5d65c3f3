"""Bounds of templates, to the unit: what an operation costs, and the sizes up to which it is allowed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, TemplateNotFound

from scenario_kit.errors import AuthoringError
from scenario_kit.render.templating.authoring_error import build_error, join_errors
from scenario_kit.render.templating.engine import copy_plain, explain_invalid_template, list_names, render
from scenario_kit.render.templating.filters import add_values, build_filters, concatenate
from scenario_kit.render.templating.folder import MAX_FILE, Folder
from scenario_kit.render.templating.render_budget import (
    MAX_ENTRIES,
    MAX_NESTED,
    MAX_OUTPUT,
    MAX_WORK,
    check_room,
    meter_rendering,
    spend,
    spend_size,
    weigh,
)
from scenario_kit.render.templating.target import TextValue


def measure_work(action: Callable[[], Any]) -> int:
    """Measure the units that an action spends, as the largest amount that may be spent before it."""
    low, high = 0, MAX_WORK + 1
    while high - low > 1:
        middle = (low + high) // 2
        try:
            with meter_rendering():
                spend(middle)
                action()
        except (ValueError, AuthoringError):
            high = middle
        else:
            low = middle
    return MAX_WORK - low


class PlainText(TextValue):
    def __str__(self) -> str:
        return "a"


def nest(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def get_filter(name: str) -> Callable[..., Any]:
    """Return a filter without its charge, which has bounds of its own."""
    return build_filters()[name].__wrapped__  # type: ignore[attr-defined, no-any-return]


# --- the budget


@pytest.mark.parametrize(
    ("value", "units"),
    [
        (None, 0),
        (True, 0),
        (7, 0),
        (1.5, 0),
        ("a" * 1000, 10),
        ([1] * 100, 51),
        ((1,) * 100, 51),
        (set(range(100)), 51),
        (frozenset(range(100)), 51),
        ({"k" * 100: "v" * 100}, 3),
        ({str(i): i for i in range(100)}, 103),
        ([["x" * 200] * 2], 6),
        ([{"a": [1, 2]}] * 10, 25),
    ],
)
def test_weighing_costs_half_a_unit_per_entry_and_a_unit_per_100_characters(value: Any, units: int) -> None:
    assert measure_work(lambda: weigh(value)) == units
    with meter_rendering():
        assert weigh(value) is value


@pytest.mark.parametrize(
    ("value", "units"),
    [("a" * 250, 2), ([0] * 7, 7), ((0,) * 7, 7), ({"a": 1}, 1), ({1, 2}, 2), (range(9), 9), (5, 0), ([[0] * 9], 1)],
)
def test_pass_over_a_value_costs_its_own_size(value: Any, units: int) -> None:
    assert measure_work(lambda: spend_size(value)) == units


def test_budget_is_exhausted_by_one_unit_more() -> None:
    with meter_rendering():
        spend(MAX_WORK)
        with pytest.raises(ValueError, match="too much work"):
            spend(1)


def test_nested_rendering_shares_the_budget() -> None:
    with meter_rendering():
        with meter_rendering():
            spend(MAX_WORK)
        with pytest.raises(ValueError, match="too much work"):
            spend(1)
    with meter_rendering():
        spend(MAX_WORK)


def test_nothing_renders_without_a_budget() -> None:
    with pytest.raises(ValueError, match="within a work budget"):
        spend(0)


@pytest.mark.parametrize(
    ("largest", "too_large", "most"),
    [
        ("a" * 9, "a" * 10, 10),
        ([1] * 9, [1] * 10, 10),
        (["aa", "aa", "a"], ["aa", "aa", "aa"], 9),
        ({"aaa": 1, "a": 2}, {"aaa": 1, "aa": 2}, 9),
    ],
)
def test_size_counts_characters_and_entries(largest: Any, too_large: Any, most: int) -> None:
    with meter_rendering():
        weigh(largest, most)
        with pytest.raises(ValueError, match=f"exceeds {most} characters and entries"):
            weigh(too_large, most)


@pytest.mark.parametrize(
    ("largest", "too_large"),
    [
        ([0] * (MAX_ENTRIES - 1), [0] * MAX_ENTRIES),
        ([[0] * 40_000, [0] * 59_996], [[0] * 40_000, [0] * 59_999]),
    ],
)
def test_number_of_entries_is_limited(largest: Any, too_large: Any) -> None:
    with meter_rendering():
        weigh(largest)
        with pytest.raises(ValueError, match=f"exceeds {MAX_ENTRIES} "):
            weigh(too_large)


def test_depth_is_limited() -> None:
    with meter_rendering():
        weigh(nest(MAX_NESTED + 1))
        with pytest.raises(ValueError, match=f"deeper than {MAX_NESTED} levels"):
            weigh(nest(MAX_NESTED + 2))
        weigh({"a": nest(MAX_NESTED)})
        with pytest.raises(ValueError, match=f"deeper than {MAX_NESTED} levels"):
            weigh({"a": nest(MAX_NESTED + 1)})


def test_room_includes_the_limit() -> None:
    check_room(5, 5)
    check_room(MAX_OUTPUT)
    with pytest.raises(ValueError, match="exceeds 5 characters and entries"):
        check_room(6, 5)
    with pytest.raises(ValueError, match=f"exceeds {MAX_OUTPUT} "):
        check_room(MAX_OUTPUT + 1)


# --- filters


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("aXa", "X", "-"), "a-a"),
        (("aaa", "a", "b"), "bbb"),
        (("aaa", "a", "b", None), "bbb"),
        (("aaa", "a", "b", -1), "bbb"),
        (("aaa", "a", "b", 0), "aaa"),
        (("aaa", "a", "b", 1), "baa"),
        (("aaa", "a", "b", 9), "bbb"),
        ((101, 1, 2), "202"),
        (("aaa", "aa", ""), "a"),
    ],
)
def test_replace_is_that_of_strings(arguments: tuple[Any, ...], expected: str) -> None:
    with meter_rendering():
        assert get_filter("replace")(*arguments) == expected


@pytest.mark.parametrize(
    ("new", "count", "allowed"),
    [
        (2000, -1, True),
        (2001, -1, False),
        (2001, None, False),
        (2001, 999, True),
        (2001, 1000, False),
        (2001, 5000, False),
        (2003, 998, True),
        (0, -1, True),
    ],
)
def test_replace_checks_the_size_of_its_result(new: int, count: int | None, allowed: bool) -> None:
    with meter_rendering():
        if allowed:
            get_filter("replace")("a" * 1000, "a", "b" * new, count)
        else:
            with pytest.raises(ValueError, match="a value exceeds"):
                get_filter("replace")("a" * 1000, "a", "b" * new, count)


def test_replace_by_shorter_text_needs_no_room() -> None:
    with meter_rendering():
        assert get_filter("replace")("ab" * (MAX_OUTPUT // 2), "ab", "a") == "a" * (MAX_OUTPUT // 2)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((1.25,), 1.0),
        ((1.26, 1), 1.3),
        ((1.21, 1, "ceil"), 1.3),
        ((1.29, 1, "floor"), 1.2),
        ((1234, -2), 1200),
        ((1.5, 15), 1.5),
        ((1.5, -15), 0.0),
    ],
)
def test_round_is_that_of_jinja(arguments: tuple[Any, ...], expected: float) -> None:
    assert get_filter("round")(*arguments) == expected


@pytest.mark.parametrize("digits", [16, -16, 10**9])
def test_round_is_limited(digits: int) -> None:
    with pytest.raises(ValueError, match="at most 15 digits"):
        get_filter("round")(1.5, digits)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("a\nb",), "a\n    b"),
        (("a\nb", 2), "a\n  b"),
        (("a\nb", "> "), "a\n> b"),
        (("a\nb", 2, True), "  a\n  b"),
        (("a\n\nb", 2), "a\n\n  b"),
        (("a\n\nb", 2, False, True), "a\n  \n  b"),
        (("a\nb", 40), "a\n" + " " * 40 + "b"),
    ],
)
def test_indent_is_that_of_jinja(arguments: tuple[Any, ...], expected: str) -> None:
    assert get_filter("indent")(*arguments) == expected


@pytest.mark.parametrize("width", [41, "x" * 41])
def test_indent_is_limited(width: int | str) -> None:
    with pytest.raises(ValueError, match="at most 40 characters"):
        get_filter("indent")("a\nb", width)


@pytest.mark.parametrize(("text", "width"), [("x" * (MAX_OUTPUT - 4), 4), ("x" * (MAX_OUTPUT - 7) + "\n", ">>>")])
def test_indent_checks_the_size_of_its_result(text: str, width: int | str) -> None:
    get_filter("indent")(text, width)
    with pytest.raises(ValueError, match="a value exceeds"):
        get_filter("indent")("x" + text, width)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ ['a', 'b'] | keyed(1) }}", {"a": 1, "b": 1}),
        ("{{ [1, 2] | string }}", "[1, 2]"),
        ("{{ 5 | string }}", "5"),
        ("{{ ['a', 'b'] | join }}", "ab"),
        ("{{ [1, 'b'] | join(2) }}", "12b"),
        ("{{ 'a\nb' | indent(1) }}", "a\n b"),
        ("{{ [1, 2] | sum }}", 3),
        ("{{ [1, 2] | sum(start=4) }}", 7),
        ("{{ {'b': 1} | tojson(2) }}", '{\n  "b": 1\n}'),
        ("{{ {'b': 1} | tojson(indent=8) }}", '{\n        "b": 1\n}'),
        ("{{ [3, 1, 2] | sort }}", [1, 2, 3]),
        ("{{ ['b', 'a', 'b'] | unique | list }}", ["b", "a"]),
        ("{{ [0, 1, 2] | select | list }}", [1, 2]),
        ("{{ [0, 1, 2] | reject('odd') }}", [0, 2]),
        ("{{ nothing | default('x') }}", "x"),
        ("{{ ' a ' | trim }}", "a"),
    ],
)
def test_filters_are_available(text: str, expected: Any) -> None:
    assert render(text, {}) == expected


@pytest.mark.parametrize("indent", [-1, 9])
def test_json_indentation_is_limited(indent: int) -> None:
    with pytest.raises(AuthoringError, match="at most 8 characters"):
        render(f"{{{{ [1] | tojson({indent}) }}}}", {})


def test_json_is_limited_to_a_tenth_of_the_output() -> None:
    render("{{ text | tojson | length }}", {"text": "a" * (MAX_OUTPUT // 10 - 1)})
    with pytest.raises(AuthoringError, match=f"exceeds {MAX_OUTPUT // 10} "):
        render("{{ text | tojson | length }}", {"text": "a" * (MAX_OUTPUT // 10)})


@pytest.mark.parametrize(
    ("name", "arguments", "named", "units"),
    [
        ("length", ([0] * 70,), {}, 80),
        ("upper", ("a" * 1000,), {}, 20),
        ("default", ("",), {"default_value": "a" * 1000}, 20),
        ("string", ("a" * 1000,), {}, 30),
        ("sort", (Environment(), [0] * 100), {}, 112),
        ("replace", ("a" * 1000, "b", "c"), {}, 30),
    ],
)
def test_filters_charge_for_arguments_and_deep_ones_for_results(
    name: str, arguments: tuple[Any, ...], named: dict[str, Any], units: int
) -> None:
    assert measure_work(lambda: build_filters()[name](*arguments, **named)) == units


def test_sum_of_texts_and_of_numbers() -> None:
    with meter_rendering():
        assert add_values("a", "b") == "ab"
        assert add_values([1], [2]) == [1, 2]
        assert add_values((1,), (2,)) == (1, 2)
        assert add_values(1, 2.5) == 3.5
        with pytest.raises(TypeError):
            add_values("a", 1)
        with pytest.raises(TypeError):
            add_values([1], (2,))
    assert measure_work(lambda: add_values("a" * 1000, "b" * 1000)) == 20
    assert measure_work(lambda: concatenate(["a" * 1000, "b" * 1000])) == 22


def test_concatenation_is_limited() -> None:
    with meter_rendering():
        assert len(concatenate(iter(["a" * (MAX_OUTPUT - 1), "b"]))) == MAX_OUTPUT
    with meter_rendering(), pytest.raises(ValueError, match="a value exceeds"):
        concatenate(["a" * MAX_OUTPUT, "b"])


# --- expressions


@pytest.mark.parametrize(
    "text",
    [
        "{{ big == 1 }}",
        "{{ 1 == big }}",
        "{{ 7 in big }}",
        "{{ big[1:] | length }}",
        "{{ [big] | length }}",
        "{{ {'a': big} | length }}",
        "{{ (big, 1) | length }}",
        "{{ big.index(9999) }}",
        "{{ big ~ '' }}",
        "{{ big + [1] }}",
        "{{ dict(a=big) | length }}",
        "{{ big | sort | first }}",
        "{% set found = big == 1 %}{{ found }}",
        "{% if big == 1 %}x{% endif %}",
        "{{ big is eq 1 }}",
        "a{{ big }}",
    ],
)
def test_operations_on_a_large_value_cost_its_size(text: str) -> None:
    variables = {"big": list(range(10_000))}
    render(text, variables)  # compiled once, whose cost is not that of the operation
    assert measure_work(lambda: render(text, variables)) >= 5_000


@pytest.mark.parametrize(
    "text",
    [
        "{% for x in range(1000) %}{% endfor %}",
        "{% for x in range(1000) if false %}{% endfor %}",
        "{% for x in range(100) %}{% for y in range(10) %}{% endfor %}{% endfor %}",
    ],
)
def test_each_iteration_costs_at_least_its_nodes(text: str) -> None:
    render(text, {})
    assert measure_work(lambda: render(text, {})) >= 2_000


def test_compiling_costs_its_nodes() -> None:
    text = "{{ " + " + ".join(["1"] * 50) + " }}"
    # A comment that no template had before: compiled templates are cached.
    assert measure_work(lambda: render(f"{text}{{# {uuid.uuid4()} #}}", {})) > 5 * 99


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in [1] %}{% for b in [1] %}x{% endfor %}{% endfor %}",
        "{% for a in [1] %}{% endfor %}{% for a in [1] %}{% endfor %}{% for a in [1] %}x{% endfor %}",
        "{% for a in [1] %}{% if a %}{% for b in [1] %}x{% endfor %}{% endif %}{% endfor %}",
    ],
)
def test_two_nested_loops_are_allowed(text: str) -> None:
    assert render(text, {}) == "x"


@pytest.mark.parametrize(
    "inner", ["{% for c in [1] %}x{% endfor %}", "{% if b %}{% for c in [1] %}x{% endfor %}{% endif %}"]
)
def test_three_nested_loops_are_not_allowed(inner: str) -> None:
    with pytest.raises(AuthoringError, match="nested more than 2 deep"):
        render("{% for a in [1] %}{% for b in [1] %}" + inner + "{% endfor %}{% endfor %}", {})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2,)), [1, [2]]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({2, 1}), [1, 2]),
        ({1: (2,)}, {"1": [2]}),
        (PlainText(), "a"),
        (None, None),
        (False, False),
        (0.5, 0.5),
    ],
)
def test_values_become_plain(value: Any, expected: Any) -> None:
    assert copy_plain(value) == expected
    assert type(copy_plain(expected)) is type(expected)


def test_results_of_lazy_filters_become_lists() -> None:
    assert copy_plain(iter([1, (2,)])) == [1, [2]]


@pytest.mark.parametrize("value", [object(), [object()], {"a": range(2)}, b"x"])
def test_values_without_yaml_form_are_refused(value: Any) -> None:
    with pytest.raises(AuthoringError, match=r"yields a (object|range|bytes), which has no YAML form") as caught:
        copy_plain(value)
    assert [f.code for f in caught.value.findings] == ["SK123"]


@pytest.mark.parametrize("value", ["a\ud83d", {"\udc00": 1}, ["x", "\ud83d"]])
def test_unpaired_surrogates_are_refused(value: Any) -> None:
    with pytest.raises(AuthoringError, match=r"unpaired surrogate, U\+D(83D|C00)") as caught:
        copy_plain(value)
    assert caught.value.fix == "write the complete character"


def test_document_is_limited_to_the_last_character() -> None:
    key, text = "k" * 10, "x" * (MAX_OUTPUT - 20)
    assert render({key: [text, "{{ n }}"]}, {"n": 1234567890}) == {key: [text, 1234567890]}
    place = rf"^a\.{key}\[1\]: the rendered document exceeds {MAX_OUTPUT} characters"
    with pytest.raises(AuthoringError, match=place) as caught:
        render({key: [text, "{{ n }}"]}, {"n": 12345678901}, "a")
    assert [f.code for f in caught.value.findings] == ["SK123"]


def test_message_names_variables_and_place() -> None:
    with pytest.raises(AuthoringError) as caught:
        render({"a": {"b": "x" * 300 + "{{ c }}"}}, {"port": 1, "name": 2})
    (finding,) = caught.value.findings
    assert finding.message.startswith("a.b: cannot render the template: ")
    assert finding.observed == "x" * 200
    assert finding.expected == "an expression over name, port"


@pytest.mark.parametrize("text", ["{{ a", "{% if %}", "{# a", "{% include 'a' %}", "{{ a | nosuch }}"])
def test_invalid_templates_are_explained(text: str) -> None:
    assert " " in explain_invalid_template(text), "a sentence, not the name of an exception"


@pytest.mark.parametrize("text", ["", "a {b} %}", "{{ a.b }}", "{% if a %}{% endif %}", "{# a #}"])
def test_valid_templates_need_no_explanation(text: str) -> None:
    assert explain_invalid_template(text) == ""


@pytest.mark.parametrize(
    ("text", "names"),
    [("{{ a.b + c }}", {"a", "c"}), ("{% if d %}{% endif %}", {"d"}), ("{{ a", set()), ("a {b}", set())],
)
def test_names_of_templates(text: str, names: set[str]) -> None:
    assert list_names(text) == names


# --- errors and files


def test_error_has_one_complete_finding() -> None:
    error = build_error("SK123", "it is wrong", observed="a", expected="b", why="c", fix="d")
    (finding,) = error.findings
    assert (error.message, error.fix) == ("it is wrong", "d")
    assert (finding.code, finding.message, finding.severity) == ("SK123", "it is wrong", "Error")
    assert (finding.observed, finding.expected, finding.why, finding.fix) == ("a", "b", "c", "d")
    (plain,) = build_error("SK123", "it is wrong").findings
    assert (plain.observed, plain.expected, plain.why, plain.fix) == ("", "", "", "")


def test_errors_are_joined_in_order() -> None:
    one, two = build_error("SK123", "a", fix="x"), build_error("SK124", "b", fix="y")
    joined = join_errors([one, two])
    assert joined is not None
    assert (joined.message, joined.fix, [f.code for f in joined.findings]) == ("a\nb", "", ["SK123", "SK124"])
    alone = join_errors(iter([one]))
    assert alone is not None
    assert (alone.message, alone.fix) == ("a", "x")
    assert join_errors([]) is None


def test_files_of_a_folder(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "app")
    (tmp_path / "app" / "sub").mkdir(parents=True)
    (tmp_path / "app2").mkdir()
    (tmp_path / "app2" / "a").write_text("beside")
    (tmp_path / "app" / "sub" / "a").write_text("grüße", encoding="utf-8")
    (tmp_path / "app" / "large").write_bytes(b"a" * MAX_FILE)
    (tmp_path / "app" / "larger").write_bytes(b"a" * (MAX_FILE + 1))
    (tmp_path / "app" / "latin").write_bytes(b"\xfc")
    assert folder.text("sub/a") == "grüße"
    assert folder.text("sub/../sub/a") == "grüße"
    assert len(folder.text("large")) == MAX_FILE
    with pytest.raises(ValueError, match="larger is larger than 512 KiB"):
        folder.text("larger")
    with pytest.raises(UnicodeDecodeError):
        folder.text("latin")
    for name in ("", "sub", "none", "../app2/a", str(tmp_path / "app2" / "a"), "sub/a\0"):
        with pytest.raises(TemplateNotFound) as caught:
            folder.text(name)
        assert caught.value.name == name


def test_source_is_current_until_its_file_changes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("b")
    text, path, is_current = Folder(tmp_path).get_source(Environment(), "a")
    assert (text, path, is_current()) == ("b", str(tmp_path / "a"), True)
    (tmp_path / "a").unlink()
    assert not is_current()
