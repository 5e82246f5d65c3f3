"""Mutants as mutmut writes them: names, lines of the source, keys that stay, and a sample that stays."""

import json
import os
from pathlib import Path

import pytest

from tools.mutation.mutants import Mutant, find_mutants, list_package_mutants, sample
from tools.mutation.workspace import ROOT, TESTS, answer, build_configuration, clear, prepare_workspace, read_exit_codes

SOURCE = '''"""A module."""


def ready(have, want):
    if have > want:
        return "too many of them"
    return have == want


class Pod:
    def old(self):
        return self.age > 5
'''
MUTATED = '''"""A module."""


def x_ready__mutmut_orig(have, want):
    if have > want:
        return "too many of them"
    return have == want


def x_ready__mutmut_1(have, want):
    if have >= want:
        return "too many of them"
    return have == want


def x_ready__mutmut_2(have, want):
    if have > want:
        return "XXtoo many of themXX"
    return have == want


def x_ready__mutmut_3(have, want):
    if have > want:
        return "too many of them"
    return have != want


class Pod:
    def xǁPodǁold__mutmut_orig(self):
        return self.age > 5

    def xǁPodǁold__mutmut_1(self):
        return self.age > 6
'''
PATH = "scenario_kit/judge/repair/invariants.py"


def list_mutants(source=SOURCE, mutated=MUTATED):
    return list(find_mutants(PATH, source, mutated))


def test_mutants_have_function_name_and_source_line():
    assert [(m.function, m.line) for m in list_mutants()] == [
        ("judge.repair.invariants.ready", 5),
        ("judge.repair.invariants.ready", 7),
        ("judge.repair.invariants.Pod.old", 12),
    ]


def test_mutant_name_matches_mutmut():
    assert [m.name for m in list_mutants()] == [
        "scenario_kit.judge.repair.invariants.x_ready__mutmut_1",
        "scenario_kit.judge.repair.invariants.x_ready__mutmut_3",
        "scenario_kit.judge.repair.invariants.xǁPodǁold__mutmut_1",
    ]


def test_diff_uses_the_original_function_name():
    first = list_mutants()[0]
    assert "-    if have > want:" in first.diff
    assert "+    if have >= want:" in first.diff
    assert "mutmut" not in first.diff


def test_mutant_key_is_stable_under_renumbering():
    moved = list_mutants("\n\n" + SOURCE, MUTATED.replace("mutmut_3", "mutmut_9"))
    assert [m.key for m in moved] == [m.key for m in list_mutants()]
    assert moved[0].line == 7


def test_every_mutant_has_a_unique_key():
    assert len({m.key for m in list_mutants()}) == 3


def some(number):
    return [Mutant(f"scenario_kit.judge.a.x_f{i}__mutmut_1", PATH, 1, f"-{i}") for i in range(number)]


def test_mutant_sample_is_stable():
    drawn = sample(some(100), 20, seed=1)
    later = sample(some(120), 20, seed=1)
    assert len(drawn) == 20
    assert len(set(drawn) & set(later)) >= 10
    assert [m for m in later if m in drawn] == [m for m in drawn if m in later]


def test_another_seed_draws_another_sample():
    assert sample(some(100), 20, seed=1) != sample(some(100), 20, seed=2)


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (0, "survived"),
        (1, "killed"),
        (3, "killed"),
        (5, "uncovered"),
        (33, "uncovered"),
        (36, "killed"),
        (-24, "killed"),
    ],
)
def test_exit_codes(code, word):
    assert answer(code) == word


def test_answers_are_read_from_the_files_of_mutmut(tmp_path):
    folder = tmp_path / "mutants" / "scenario_kit" / "judge"
    folder.mkdir(parents=True)
    folder.joinpath("a.py.meta").write_text('{"exit_code_by_key": {"a.x_f__mutmut_1": 0, "a.x_f__mutmut_2": null}}')
    folder.joinpath("b.py.meta").write_text('{"exit_code_by_k')
    assert read_exit_codes(tmp_path) == {"a.x_f__mutmut_1": 0, "a.x_f__mutmut_2": None}


@pytest.mark.parametrize("package", TESTS)
def test_configuration_mutates_one_package(package):
    written = build_configuration(package)
    assert f'only_mutate = ["scenario_kit/{package.replace(".", "/")}/*"]' in written
    assert all(f'"tests/{folder}"' in written for folder in TESTS[package] if (ROOT / "tests" / folder).is_dir())


def small_project(folder):
    module = folder / "scenario_kit" / "judge" / "small.py"
    (folder / "scenario_kit").unlink()
    module.parent.mkdir(parents=True)
    module.write_text("def ready(have, want):\n    return have == want\n")
    return module


def test_mutmut_makes_mutants_of_this_project(tmp_path):
    with prepare_workspace("judge", tmp_path / "work") as folder:
        small_project(folder)
        assert [(m.function, m.line) for m in list_package_mutants(folder, "judge")] == [("judge.small.ready", 2)]


def test_generated_mutants_are_reused_until_source_changes(tmp_path):
    with prepare_workspace("judge", tmp_path / "work") as folder:
        module = small_project(folder)
        made = folder / "mutants" / "scenario_kit" / "judge" / "small.py"
        made.parent.mkdir(parents=True)
        made.write_text(MUTATED.split("class")[0])
        for seconds, number in ((10, 2), (-10, 1)):
            os.utime(made, (0, module.stat().st_mtime + seconds))
            assert len(list_package_mutants(folder, "judge")) == number


def test_results_of_the_last_run_are_removed(tmp_path):
    made = tmp_path / "scenario_kit" / "judge" / "a.py"
    meta = made.with_name("a.py.meta")
    copied, stats = tmp_path / "tests" / "judge" / "test_a.py", tmp_path / "mutmut-stats.json"
    for path in (made, copied):
        path.parent.mkdir(parents=True)
    for path in (made, copied, stats):
        path.write_text("")
    meta.write_text('{"exit_code_by_key": {"m_1": 1}, "durations": 3}')
    clear(tmp_path, Path("scenario_kit/judge"))
    assert {p.name for p in tmp_path.rglob("*") if p.is_file()} == {"a.py", "a.py.meta"}
    assert json.loads(meta.read_text()) == {"exit_code_by_key": {"m_1": None}, "durations": 3}
