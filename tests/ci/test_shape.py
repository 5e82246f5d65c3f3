"""``ci/shape``: each figure counts what its title states, and the ratchet is monotonic."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from ci.figures import measure  # noqa: E402

ROWS, WORDS = measure.read_settings()
BY_KEY = {row.key: row for row in ROWS}


def checkout(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def measure_text(folder, text):
    return measure.measure(checkout(folder, {"scenario_kit/a.py": text}), WORDS)


@pytest.mark.parametrize(
    ("name", "verb"),
    [("find_pods", True), ("_render", True), ("is_ready", True), ("selects", True), ("pods", False), ("told", False)],
)
def test_verbs(name, verb):
    assert measure.begins_with_verb(name, WORDS) is verb


@pytest.mark.parametrize(
    ("name", "participle"),
    [("told", True), ("_barred", True), ("rendered", True), ("kept", True), ("feed", False), ("read_rules", False),
     ("kept_bytes", False), ("red", False)],
)  # fmt: skip
def test_participles(name, participle):
    assert measure.is_participle(name, WORDS) is participle


@pytest.mark.parametrize(
    ("name", "words"),
    [("wanted_label", ["wanted", "label"]), ("_HTTPRoute", ["http", "route"]), ("whoeverAsks", ["whoever", "asks"])],
)
def test_words_of_a_name(name, words):
    assert measure.split_name(name) == words


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("def find(): pass\ndef pods(): pass\n", "verbs", 50),
        ("class A:\n    @property\n    def pods(self): pass\n    def __eq__(self, o): pass\n", "one_word", 0),
        ("class A:\n    @property\n    def pods(self): pass\n    def get(self): pass\n", "verbs", 100),
        ("def told(): pass\ndef find(): pass\n", "participles", 50),
        ("wanted = 1\n", "denied", 1),
        ("def find(*, wanted): return wanted\n", "denied", 2),
        ("text = 'wanted'\n", "denied", 0),
        ("def find(a, b, c, d, e, f, g): pass\n", "wide_functions", 0),
        ("def find(a, b, c, d, e, f, g, *, h): pass\n", "wide_functions", 1),
        ("def run(a: Annotated[int, O()], b, c, d, e, f, g, h): pass\n", "wide_functions", 0),
        ("x = [a for b in c for a in b]\n", "nested_comprehensions", 1000),
        ("a = 1\n\nb = 2\n", "lines", 2),
    ],
)  # fmt: skip
def test_figures_of_a_module(tmp_path, text, key, value):
    assert measure_text(tmp_path, text)[key] == value


def test_duplicate_class_names_are_counted(tmp_path):
    folder = checkout(
        tmp_path, {"scenario_kit/a.py": "class Row: ...\n", "operators/b.py": "class Row: ...\nclass X: ...\n"}
    )
    assert measure.measure(folder, WORDS)["homonyms"] == 1


@pytest.mark.parametrize("package", ["scenario_kit/lab", "tools/matrix", "ci/figures"])
def test_package_of_sixteen_modules_is_large(tmp_path, package):
    files = {f"{package}/m{i}.py": "" for i in range(15)} | {f"{package}/__init__.py": ""}
    assert measure.measure(checkout(tmp_path, files), WORDS)["large_packages"] == 0
    files[f"{package}/m15.py"] = ""
    assert measure.measure(checkout(tmp_path, files), WORDS)["large_packages"] == 1


def test_import_cycle_counts_once_without_type_imports(tmp_path):
    files = {
        "scenario_kit/__init__.py": "",
        "scenario_kit/a.py": "from scenario_kit import b\n",
        "scenario_kit/b.py": "def find():\n    from scenario_kit.a import x\n",
        "scenario_kit/c.py": "from scenario_kit.d import x\n",
        "scenario_kit/d.py": "if TYPE_CHECKING:\n    from scenario_kit.c import x\n",
    }
    counts = measure.count_modules(checkout(tmp_path, files))
    assert measure.find_circles(counts.imports) == [["scenario_kit.a", "scenario_kit.b"]]


def test_jinja_of_faults(tmp_path):
    folder = checkout(tmp_path, {"catalog/faults/x/fault.yaml": "a: '{{ one }}'\nb: '{% if x %}{{ two }}'\n"})
    figures = measure.measure(folder, WORDS)
    assert figures["jinja"] == pytest.approx(0.028)
    assert figures["longest_expression"] == 10


def test_fields_without_a_description(tmp_path):
    schema = {
        "properties": {"a": {"description": "A."}, "b": {"type": "string"}, "c": {"$ref": "#/x"}},
        "if": {"properties": {"d": {}}},
    }
    folder = checkout(tmp_path, {"schema/app.schema.json": json.dumps(schema)})
    assert measure.measure(folder, WORDS)["described"] == pytest.approx(200 / 3)
    checkout(tmp_path, {"schema/twin.schema.json": json.dumps({"properties": {"e": {"type": "integer"}}})})
    assert measure.measure(folder, WORDS)["described"] == 50


@pytest.mark.parametrize(
    ("key", "value", "worse"),
    [("homonyms", 5, False), ("homonyms", 6, True), ("verbs", 4.6, False), ("verbs", 4.4, True), ("verbs", 9, False)],
)
def test_is_worse_compares_in_the_direction_of_the_figure(key, value, worse):
    assert measure.is_worse(BY_KEY[key], value, 5) is worse


def test_ratchet_keeps_the_best_values():
    values = {row.key: 10.0 for row in ROWS}
    held = measure.ratchet(ROWS, values, {"homonyms": 3, "verbs": 3})
    assert held["homonyms"] == 3
    assert held["verbs"] == 10
    assert held["circles"] == 10
    assert "lines" not in held


def test_checkout_passes_the_ratchet():
    done = subprocess.run(
        [sys.executable, "ci/shape", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_glossary_packages_exist():
    rows = [line.split("|") for line in (ROOT / "docs/glossary.md").read_text().splitlines() if line.startswith("| ")]
    terms = [row[1].strip() for row in rows if row[1].strip() != "term"]
    assert len(terms) >= 80
    assert len(terms) == len(set(terms))
    places = {place for row in rows for place in row[3].strip().replace("`", "").split(", ") if place != "where"}
    assert {place for place in places if not (ROOT / "scenario_kit" / place).is_dir()} == set()
