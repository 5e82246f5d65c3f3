"""Templates that a stranger wrote cannot reach out, run code, hang or eat memory."""

import resource
import time

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.render import render_app
from scenario_kit.render.templating.engine import render

VARIABLES = {"text": "abc", "items": [{"a": 1}, {"a": 2}], "call": lambda value="": value}
#: Of this process: less than any template without bounds would take, more than instrumented code needs.
SECONDS, MEGABYTES = 10.0, 150


def thirty(step: str, start: str = "'ab'", name: str = "a") -> str:
    return f"{{% set a = {start} %}}" + f"{{% set {name} = {step} %}}" * 30 + "{{ a }}"


ATTEMPTS = {
    "doubled by tilde": thirty("a ~ a"),
    "doubled by plus": thirty("a + a"),
    "lists doubled by plus": thirty("a + a", "[1, 2]"),
    "lists in lists": thirty("[a, a]", "[1]"),
    "dicts in dicts": thirty("{'x': a, 'y': a}", "{}"),
    "dicts of dict()": thirty("dict(x=a, y=a)", "{}"),
    "deep lists": "{% set a = [] %}" + "{% set a = [a] %}" * 200 + "{{ a }}",
    "chained replace": thirty("a | replace('a', 'aaaaaaaaaa')", "'aa'"),
    "replace of nothing": thirty("a | replace('', a)", "'abcdefgh'"),
    "joined": thirty("[a, a, a, a] | join"),
    "joined by itself": thirty("a | join(a)"),
    "block set": "{% set a = 'ab' %}" + "{% set a %}{{ a }}{{ a }}{% endset %}" * 30 + "{{ a }}",
    "block set in a loop": "{% set a = range(1000) | list | string %}"
    "{% set b %}{% for x in range(1000) %}{{ a }}{% endfor %}{% endset %}",
    "replace method": "{{ text.replace('a', 'b') }}",
    "ljust": "{{ text.ljust(10000000000) }}",
    "rjust": "{{ text.rjust(10000000000) }}",
    "center": "{{ text.center(10000000000) }}",
    "zfill": "{{ text.zfill(10000000000) }}",
    "expandtabs": "{{ text.expandtabs(10000000000) }}",
    "join method": "{{ text.join(['a', 'b']) }}",
    "translate": "{{ text.translate({97: 'b'}) }}",
    "encode": "{{ text.encode() }}",
    "method by subscript": "{{ text['ljust'](10000000000) }}",
    "method by attr": "{{ (text | attr('ljust'))(10000000000) }}",
    "method by map": "{{ [text] | map(attribute='ljust') | first }}",
    "format": "{{ '{:10000000000}'.format(1) }}",
    "format_map": "{{ '{a:10000000000}'.format_map({'a': 1}) }}",
    "format that looks inside": "{{ '{0.__class__}'.format(call) }}",
    "percent": "{{ '%10000000000d' % 1 }}",
    "format filter": "{{ '%10000000000d' | format(1) }}",
    "center filter": "{{ text | center(10000000000) }}",
    "indent": "{{ text | indent(10000000000, true) }}",
    "indent by text": thirty("a | indent(a, true)", "'abcd\n'"),
    "wordwrap": "{{ text | wordwrap(1, wrapstring='x' * 9) }}",
    "tojson": "{{ [[1]] | tojson(indent=10000000000) }}",
    "round": "{{ 1.5 | round(1000000000, 'floor') }}",
    "batch": "{{ [1] | batch(10000000000, 'x') | list }}",
    "slice": "{{ [1] | slice(10000000000) | list }}",
    "to_bytes": "{{ (5).to_bytes(10000000000, 'big') }}",
    "fromkeys": "{{ {}.fromkeys(range(1000)) }}",
    "power": "{{ 9 ** 99999999 }}",
    "product of text": "{{ 'a' * 10000000000 }}",
    "product of lists": "{{ [1] * 10000000000 }}",
    "products of products": thirty("a * a", "999999"),
    "range": "{{ range(1000000000) | list }}",
    "lipsum": "{{ lipsum(n=100000000) }}",
    "two loops": "{% for a in range(1000) %}{% for b in range(1000) %}{{ a ~ b }}{% endfor %}{% endfor %}",
    "loop that yields nothing": "{% for a in range(1000) %}{% for b in range(1000) if a > 9999 %}x{% endfor %}"
    "{% endfor %}",
    "loop with a long body": "{% for a in range(1000) %}{% for b in range(100) %}" + "{{ b }}" * 1000
    + "{% endfor %}{% endfor %}",
    "recursive loop": "{% for a in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "map of map": "{{ range(1000) | map('replace', '', 'x' ~ range(1000) | list) | list }}",
    "large output": "{% set a = range(1000) | list | string %}{% for x in range(1000) %}{{ a }}{% endfor %}",
    "wide code": "{{ " + " + ".join(["1"] * 20_000) + " }}",
    "deep code": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "nested lists in code": "{{ " + "[" * 150 + "]" * 150 + " }}",
    "long code": "{{ a }}" * 100_000,
    "class": "{{ text.__class__.__mro__[1].__subclasses__() }}",
    "globals": "{{ call.__globals__ }}",
    "globals by subscript": "{{ call['__globals__'] }}",
    "closure by map": "{{ [call] | map(attribute='__globals__') | list }}",
    "environment": "{{ self._TemplateReference__context.environment }}",
    "open": "{{ open('/etc/passwd').read() }}",
    "os": "{{ cycler.__init__.__globals__.os.environ }}",
    "include": "{% include '/etc/passwd' %}",
    "import": "{% from 'os' import environ %}",
    "macro": "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "changes a list": "{{ items.append(1) }}",
    "changes a dict": "{{ items[0].update({'b': 1}) }}",
}  # fmt: skip


@pytest.fixture(autouse=True)
def little():
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    yield
    assert time.process_time() - start < SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES * 1024


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_faults_are_refused(attempt):
    with pytest.raises(AuthoringError) as caught:
        render({"a": ATTEMPTS[attempt]}, VARIABLES, "changes[0]")
    assert [f.code for f in caught.value.findings] == ["SK123"]
    assert len(caught.value.message) < 5_000


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{n}: &{n} [{', '.join([f'*{o}'] * 9)}]\n" for o, n in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGED = "a: &a {x: 1}\n" + "".join(
    f"{n}: &{n} {{<<: [{', '.join([f'*{o}'] * 9)}]}}\n" for o, n in zip("abcdefgh", "bcdefghi", strict=True)
)
WITH_FILES = {
    "absolute include": "{% include '/etc/passwd' %}",
    "include above": "{% include '../secret.txt' %}",
    "include far above": "{% include '2.2.0/../../secret.txt' %}",
    "include by a link": "{% include '2.2.0/link' %}",
    "includes itself": "{% include '2.2.0/manifests.yaml.j2' %}" * 2,
    "calls itself": "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "calls itself with blocks": "{% block a %}{{ self.a() }}{{ self.a() }}{% endblock %}",
    "three loops": "{% for a in range(999) %}{% for b in range(999) %}{% for c in range(999) %}"
    "{% endfor %}{% endfor %}{% endfor %}",
    "aliases": LAUGHS,
    "merge keys": MERGED,
    "deep brackets": "[" * 100_000,
    "deep dashes": "- " * 100_000,
    "deep data": "{{ data }}",
}


@pytest.mark.parametrize("attempt", [a for a in ATTEMPTS if a not in ("long code",)] + list(WITH_FILES))
def test_apps_are_refused(attempt, tmp_path):
    (tmp_path / "secret.txt").write_text("a: b")
    (tmp_path / "shop" / "2.2.0").mkdir(parents=True)
    (tmp_path / "shop" / "2.2.0" / "link").symlink_to(tmp_path / "secret.txt")
    text = ATTEMPTS.get(attempt) or WITH_FILES[attempt]
    values = "".join(f"{{% set {n} = {v} %}}" for n, v in (("text", "'abc'"), ("items", "[{'a': 1}]"))) * (
        attempt in ATTEMPTS
    )
    folder = tmp_path / "shop" / "2.2.0"
    (folder / "manifests.yaml.j2").write_text(values + text)
    if attempt == "deep data":
        (folder / "data.yaml").write_text(LAUGHS)
    with pytest.raises(AuthoringError) as caught:
        render_app(Catalog().app("otel-demo", "2.2.0"), {}, 5, "shop", templates=folder.parent)
    assert "root:" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ 'a' ~ 1 ~ none }}", "a1None"),
        ("{{ 'a' + 'b' }}", "ab"),
        ("{{ [1] + [2] }}", [1, 2]),
        ("{{ text[1:] }}", "bc"),
        ("{{ text.upper().split('B') }}", ["A", "C"]),
        ("{{ [1, 2] | join('-') }}", "1-2"),
        ("{{ items | join(',', attribute='a') }}", "1,2"),
        ("{{ items | sum(attribute='a') }}", 3),
        ("{{ [[1], [2]] | sum(start=[]) }}", [1, 2]),
        ("{{ 'aaa' | replace('a', 'b', 2) }}", "bba"),
        ("{{ 'aaa' | replace('a', 'b') }}", "bbb"),
        ("{{ 1.257 | round(1) }}", 1.3),
        ("{{ {'a': [1]} | tojson }}", '{"a": [1]}'),
        ("{{ 'a' in text and 1 < 2 and text != 'x' }}", True),
        ("{% for k, v in {'a': 1} | dictsort %}{{ k }}={{ v }}{% endfor %}", "a=1"),
        ("{% for x in range(4) if x is even %}{{ loop.index }}{{ x }};{% endfor %}", "10;22;"),
        ("{{ items | selectattr('a', 'eq', 2) | map(attribute='a') | first }}", 2),
        ("{% set a, b = [1, 2] %}{{ b }}", "2"),
    ],
)
def test_harmless_template_is_rendered(text, expected):
    assert render(text, VARIABLES) == expected
