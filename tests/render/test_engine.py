"""Documents with expressions: native values, strictness, and the bounds of the sandbox."""

import pytest

from scenario_kit.errors import AuthoringError
from scenario_kit.render.templating.engine import MAX_OUTPUT, render

VARIABLES = {
    "n": 8080,
    "name": "cart",
    "items": [{"a": 1}, {"a": 2}],
    "flag": True,
    "nothing": None,
    "endless": "inf",
    "deep": {"x": {"y": "z"}},
}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("{{ n }}", 8080),
        ("  {{ n }}\n", 8080),
        ("{{- n -}}", 8080),
        ("{{ n + 1 }}", 8081),
        ("{{ flag }}", True),
        ("{{ nothing }}", None),
        ("{{ items }}", [{"a": 1}, {"a": 2}]),
        ("{{ {'a': {'b': n}} }}", {"a": {"b": 8080}}),
        ("{{ items | map(attribute='a') }}", [1, 2]),
        ("{{ '{{' }}", "{{"),
        ("{{ deep.x.y }}", "z"),
        ("port {{ n }}", "port 8080"),
        ("{{ name }}:{{ n }}", "cart:8080"),
        ("{{ n if flag else 0 }}", 8080),
        ("{% if flag %}yes{% else %}no{% endif %}", "yes"),
        ("{% for i in items %}{{ i.a }}{% endfor %}", "12"),
        ("{{ range(3) | list }}", [0, 1, 2]),
        ("no template {at} all}", "no template {at} all}"),
        ({"{{ name }}-key": ["{{ n }}", 1, None, True]}, {"cart-key": [8080, 1, None, True]}),
        (1.5, 1.5),
    ],
)
def test_values(document, expected):
    result = render(document, VARIABLES)
    assert result == expected
    assert type(result) is type(expected)


def test_results_are_copies_of_their_sources():
    result = render({"a": "{{ items }}"}, VARIABLES)
    result["a"][0]["a"] = 99
    assert VARIABLES["items"][0]["a"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "{{ missing }}",
        "port {{ missing }}",
        "{{ deep.missing.y }}",
        "{{ n. }}",
        "{% include 'x' %}",
        "{% import 'os' as os %}",
        "{% extends 'x' %}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ n.__init__.__globals__ }}",
        "{{ items.append(1) }}",
        "{{ 'a' * 1000000000 }}",
        "{{ 9 ** 9999999 }}",
        "{{ '%999999999d' % 1 }}",
        "{{ 'a' | center(1000000000) }}",
        "{{ range(100000000) | list }}",
        "{% for a in range(9) %}{% for b in range(9) %}{% for c in range(9) %}x{% endfor %}{% endfor %}{% endfor %}",
        "{{ 1 / 0 }}",
        "{{ n + name }}",
        "{{ open('/etc/passwd') }}",
        "{{ range }}",
        "{{ 1e999 }}",
        "{{ 'nan' | float }}",
        "{{ (name ~ '')[:0] ~ 'inf' | float }}",
        "{{ endless | float }}",
    ],
)
def test_unsafe_template_is_refused(text):
    with pytest.raises(AuthoringError) as caught:
        render({"spec": {"ports": ["a", text]}}, VARIABLES, "changes[0]")
    assert [f.code for f in caught.value.findings] == ["SK123"]


def test_messages_name_the_place():
    with pytest.raises(AuthoringError) as caught:
        render({"spec": {"ports": ["a", "{{ prot }}"]}}, VARIABLES, "changes[0]")
    assert "changes[0].spec.ports[1]" in caught.value.message
    assert "prot" in caught.value.message
    assert caught.value.findings[0].observed == "{{ prot }}"


def test_output_is_bounded():
    big = {"text": "x" * (MAX_OUTPUT // 10)}
    with pytest.raises(AuthoringError, match="exceeds"):
        render(["{{ text }}"] * 11, big)
    with pytest.raises(AuthoringError, match="exceeds"):
        render(["{% for i in range(1000) %}{{ text }}{% endfor %}"], big)
