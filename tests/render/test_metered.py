"""What templates pay for, and what of built-in values they reach, to the unit."""

from typing import Any

import pytest
from jinja2 import DictLoader
from jinja2.exceptions import SecurityError, UndefinedError

from scenario_kit.render.templating.render_budget import MAX_WORK, _left, meter_rendering
from scenario_kit.render.templating.sandbox import MAX_RANGE, Sandbox, create_sandbox

#: What the frame of every template costs: its one node, paid when it is compiled, and its size, when it runs.
EMPTY = 5 + 1


def render_metered(text: str, /, **variables: Any) -> tuple[str, int]:
    """Return the output of a template, and its cost to compile and run."""
    with meter_rendering():
        shown = create_sandbox().from_string(text).render(**variables)
        left = _left.get()
    assert left is not None
    return shown, MAX_WORK - left[0]


def cost(text: str, /, **variables: Any) -> int:
    return render_metered(text, **variables)[1]


def render_refused(text: str, /, **variables: Any) -> BaseException:
    with pytest.raises((ValueError, SecurityError, UndefinedError, TypeError)) as caught:
        render_metered(text, **variables)
    return caught.value


def test_empty_template_pays_for_its_frame() -> None:
    assert cost("") == EMPTY


@pytest.mark.parametrize(
    ("text", "nodes", "pieces"),
    [
        ("x", 3, 1),
        ("{{ 1 }}", 3, 1),
        ("{{ a }}", 3, 1),
        ("{{ a }}{{ a }}", 4, 2),
        ("{% if a %}{% endif %}", 3, 0),
        ("{% if a %}x{% endif %}", 5, 1),
    ],
)
def test_nodes_cost_at_compile_and_per_iteration(text: str, nodes: int, pieces: int) -> None:
    assert cost(text, a=1) == (5 + 1) * nodes + pieces


@pytest.mark.parametrize(("body", "units"), [("", 3), ("{{ x }}", 5 + 1), ("{{ x }}{{ x }}", 6 + 2)])
def test_each_loop_iteration_pays_for_nodes_and_output(body: str, units: int) -> None:
    for turns in (1, 5):
        more, fewer = (cost("{% for x in a %}" + body + "{% endfor %}", a=[1] * n) for n in (turns, turns - 1))
        assert more - fewer == units


def test_loop_condition_filters_items() -> None:
    assert render_metered("{% for x in a if x %}{{ x }}{% endfor %}", a=[0, 1, 2])[0] == "12"


def test_rendered_list_costs_its_text() -> None:
    assert cost("{{ a }}", a=["x" * 4000]) - cost("{{ a }}", a=["x"]) >= 80


def test_arguments_of_calls_keep_their_names() -> None:
    assert render_metered("{{ f(a=1) }}", f=lambda a: a + 1)[0] == "2"


def test_filtered_item_has_a_cost() -> None:
    def loop(turns: int) -> int:
        return cost("{% for x in items if x %}{{ x }}{% endfor %}", items=[0] * turns)

    assert loop(5) - loop(4) == loop(1) - loop(0) > 0


def test_macro_call_has_a_cost() -> None:
    def calls(count: int) -> int:
        return cost("{% macro f() %}x{% endmacro %}{% for i in a %}{{ f() }}{% endfor %}", a=[1] * count)

    loop, call, body = 6 + 1, 50, 3 + 1
    assert calls(3) - calls(2) == calls(2) - calls(1) == loop + call + body


def test_function_costs_50_and_a_built_in_10() -> None:
    plain = cost("{{ f }}", f=1)
    own = cost("{{ f() }}", f=lambda: 1)
    assert own - plain == 6 + 50
    assert cost("{{ f.upper() }}", f="a") - plain == 2 * 6 + 10 + 0
    assert cost("{{ dict() }}") - plain == 6 + 10


@pytest.mark.parametrize(
    ("text", "small", "large", "units"),
    [
        ("{{ a.upper() }}", "", "x" * 1000, 10 + 10 + 10 + 10),  # read, made, shown, and put together
        ("{{ a.count('b') }}", "", "x" * 1000, 10),
        ("{{ 'b'.count(a) }}", "", "x" * 1000, 10),
        ("{{ a.get('b') }}", {}, {str(i): 1 for i in range(30)}, 30),
        ("{{ a.count('b') }}", [], [1] * 30, 15),
        ("{{ a.count('b') }}", [""], ["x" * 1000], 10),
    ],
)
def test_built_in_cost_depends_on_input_and_output(text: str, small: Any, large: Any, units: int) -> None:
    assert cost(text, a=large) - cost(text, a=small) == units


@pytest.mark.parametrize(
    ("value", "units"),
    [
        ("a", 0),
        ("a[0]", 0),
        ("a ~ 'b'", 40),
        ("[a]", 40),
        ("[a, a]", 80),
        ("(a, 1)", 40),
        ("{'a': a}", 40),
        ("{a: 1}", 40),
        ("a[1:]", 40),
        ("a == 'a'", 40),
        ("'a' == a", 40),
        ("a in 'a'", 40),
        ("1 < 2 == a", 40),
        ("dict(a=a)", 40),
        ("[0].count(a)", 40),
        ("a.upper()", 80),
        ("a.count('b')", 40),
    ],
)
def test_created_and_compared_text_costs_by_size(value: str, units: int) -> None:
    text = "{% set b = " + value + " %}"
    assert cost(text, a="x" * 4000) - cost(text, a="") == units


@pytest.mark.parametrize(("text", "units"), [("{{ a }}", 80), ("{% set b %}{{ a }}{% endset %}", 80)])
def test_output_costs_by_size(text: str, units: int) -> None:
    assert cost(text, a="x" * 4000) - cost(text, a="") == units


@pytest.mark.parametrize("text", ["{% set b, c = a %}{{ b }}", "{% for b, c in [a] %}{{ c }}{% endfor %}"])
def test_assigned_names_are_free(text: str) -> None:
    assert render_metered(text, a=[1, 1])[0] == "1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ 7 % 4 }}", "3"),
        ("{{ 6 * 7 }}", "42"),
        ("{{ 1 + 2.5 }}", "3.5"),
        ("{{ 'a' + 'b' }}", "ab"),
        ("{{ 1000000 * 1000000 }}", "1000000000000"),
        ("{{ 10 ** 2 }}", ValueError),
        ("{{ 'a' * 3 }}", ValueError),
        ("{{ 3 * [1] }}", ValueError),
        ("{{ 'a%s' % 3 }}", ValueError),
        ("{{ big * 1 }}", "1" + "0" * 24),
        ("{{ (big + 1) * 1 }}", ValueError),
        ("{{ 1 * (-1 - big) }}", ValueError),
        ("{{ big + big }}", "2" + "0" * 24),
        ("{{ (big + 1) + 1 }}", ValueError),
    ],
)
def test_arithmetic_is_for_numbers_of_ordinary_size(text: str, expected: Any) -> None:
    if isinstance(expected, str):
        assert render_metered(text, big=10**24)[0] == expected
    else:
        assert "numbers of ordinary size" in str(render_refused(text, big=10**24))


@pytest.mark.parametrize(("count", "allowed"), [(MAX_RANGE, True), (MAX_RANGE + 1, False)])
def test_range_is_limited_to_a_thousand_items(count: int, allowed: bool) -> None:
    if allowed:
        assert render_metered("{{ range(n) | length }}", n=count)[0] == "1000"
        assert render_metered("{{ range(5, 5 + n) | length }}", n=count)[0] == "1000"
        assert render_metered("{{ range(0, 2 * n, 2) | length }}", n=count)[0] == "1000"
    else:
        assert str(render_refused("{{ range(n) }}", n=count)) == "a range has 1001 items; the maximum is 1000"


@pytest.mark.parametrize(
    ("value", "attribute", "reached"),
    [
        ("a", "upper", True),
        ("a", "ljust", False),
        ("a", "format_map", False),
        ("a", "__class__", False),
        ({"a": 1}, "items", True),
        ({"a": 1}, "update", False),
        ({"a": 1}, "pop", False),
        ([1], "index", True),
        ([1], "append", False),
        ((1,), "count", True),
        ({1}, "add", False),
        (frozenset(), "union", False),
        (1, "real", False),
        (1.5, "hex", False),
        (1j, "real", False),
        (b"a", "decode", False),
        (range(3), "count", False),
        (int, "mro", False),
        (len, "__name__", False),
        (pytest.mark, "skip", True),
        (pytest.mark, "_x", False),
    ],
)
def test_safe_attributes_are_listed_per_type(value: Any, attribute: str, reached: bool) -> None:
    assert bool(create_sandbox().is_safe_attribute(value, attribute, None)) is reached


def test_format_is_refused_with_an_alternative() -> None:
    assert str(render_refused("{{ 'a{}'.format(1) }}")) != ""
    wrapped = create_sandbox().wrap_str_format("a".format)
    assert wrapped is not None
    with pytest.raises(SecurityError, match="`format` is not available here: write `~` between the parts"):
        wrapped(1)
    assert create_sandbox().wrap_str_format(len) is None


def test_environment_has_two_functions_and_is_strict() -> None:
    made = create_sandbox()
    assert isinstance(made, Sandbox)
    assert set(made.globals) == {"range", "dict"}
    assert isinstance(render_refused("{{ absent }}"), UndefinedError)
    assert render_metered("a\n")[0] == "a\n", "the last newline stays"
    assert render_metered("{{ a }}", a="<b>")[0] == "<b>", "nothing is escaped"


def test_templates_may_include_each_other() -> None:
    with meter_rendering():
        made = create_sandbox(DictLoader({"a": "{% include 'b' %}!", "b": "{{ x }}"}))
        assert made.get_template("a").render(x=1) == "1!"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(True, "True"), (None, "None"), (1.5, "1.5"), ("a", "a"), ([1, "a"], "[1, 'a']"), ({"a": (1,)}, "{'a': (1,)}")],
)
def test_values_render_as_python_text(value: Any, shown: str) -> None:
    assert render_metered("{{ a }}", a=value)[0] == shown


@pytest.mark.parametrize("name", ["(turn)", "(joined)", "(made)", "(compared)"])
def test_template_cannot_use_compiler_names(name: str) -> None:
    assert name in create_sandbox().filters
    with pytest.raises(Exception, match=r"expected token|unexpected"), meter_rendering():
        create_sandbox().from_string("{{ a | " + name + " }}")


def test_rendering_requires_a_work_budget() -> None:
    with pytest.raises(ValueError, match="only be rendered within a work budget"):
        create_sandbox().from_string("")
