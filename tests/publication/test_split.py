"""Public and held-out sets: stratified, reproducible, with underivable names, and without leaks."""

import hashlib
import hmac
import json
import shutil
from collections import Counter

import msgspec
import pytest

from scenario_kit.cli import run as run_command
from scenario_kit.cli.validation.incident_player import build_name
from scenario_kit.errors import UsageError
from scenario_kit.load import load_scenario
from scenario_kit.model.authored.contamination_canary import CANARY
from scenario_kit.publication.difficulty import StructuralFacts, measure_solved
from scenario_kit.publication.entry import hold_out
from scenario_kit.publication.hashed_name import build_hashed_name, is_hashed_name
from scenario_kit.publication.split.assignment import Candidate, SetNames, assign_sets, classify_entry, draw_held_out
from scenario_kit.publication.split.files import read_key
from scenario_kit.publication.split.leak_scan import find_published_secrets, list_secrets
from tests.publication.catalogue import HASHED, SCENARIOS, entry

KEY = b"k" * 32
#: One of each app, and one with a fault type of its own.
CHOSEN = ("cart-scaled-to-zero", "hotel-all-errors", "busy-afternoon")


def candidates(count=200):
    """Scenarios of two apps, four families and three bands, in unequal numbers."""
    return [
        Candidate(f"s{n}", ("ab"[n % 3 == 0], f"family-{n % 7 % 4}", ("Easy", "Medium", "Hard")[n % 5 % 3]))
        for n in range(count)
    ]


@pytest.mark.parametrize("percent", [1, 10, 30, 50, 99])
@pytest.mark.parametrize("seed", [0, 7])
def test_strata_are_held_out_proportionally(percent, seed):
    found = draw_held_out(candidates(), KEY, seed, percent)
    assert abs(len(found) - 200 * percent / 100) < 1
    for depth in (1, 2, 3):
        sizes = Counter(each.stratum[:depth] for each in candidates())
        held = Counter(each.stratum[:depth] for each in candidates() if each.name in found)
        for stratum, size in sizes.items():
            assert abs(held[stratum] - size * percent / 100) < 1, stratum


def test_draw_depends_on_key_and_seed_but_not_on_order():
    first = draw_held_out(candidates(), KEY, 0, 30)
    assert draw_held_out(reversed(candidates()), KEY, 0, 30) == first
    assert draw_held_out(candidates(), KEY, 1, 30) != first
    assert draw_held_out(candidates(), b"x" * 32, 0, 30) != first


def test_previous_split_is_kept_and_only_new_scenarios_drawn():
    before = assign_sets(candidates(100), KEY, 0, 30)
    gone = sorted(before.held_out)[0]
    now = [each for each in candidates(150) if each.name != gone]
    after = assign_sets(now, KEY, 5, 30, before)
    assert after.public >= before.public
    assert after.held_out >= before.held_out - {gone}
    assert gone not in after.held_out | after.public
    drawn = after.held_out - before.held_out
    assert drawn <= {f"s{n}" for n in range(100, 150)}
    assert len(drawn) == 15
    assert not after.public & after.held_out


def test_stratum_difficulty_is_measured_from_runs():
    measured = measure_solved(StructuralFacts(), {"a": (True,)})
    unmeasured = measure_solved(StructuralFacts(), {})
    given = msgspec.structs.replace(entry(), facts=StructuralFacts(complexity=2.0))
    assert classify_entry(given, measured).stratum == ("otel-demo", "Workload specification", "Easy")
    assert classify_entry(given, unmeasured).stratum[2] == "complexity Medium"
    control = msgspec.structs.replace(given, facts=StructuralFacts())
    assert classify_entry(control, unmeasured).stratum[2] == "control"


def test_names_are_keyed_hashes():
    name = build_hashed_name(KEY, "cart-scaled-to-zero")
    digest = hmac.new(KEY, b"name\0cart-scaled-to-zero", hashlib.sha256).hexdigest()
    assert name == f"held-out-{digest[:16]}"
    assert is_hashed_name(name)
    assert not is_hashed_name("held-out-not-hex")
    for known in ("cart-scaled-to-zero", "name\0cart-scaled-to-zero"):
        for algorithm in ("md5", "sha1", "sha256", "sha512"):
            assert name.removeprefix("held-out-") not in hashlib.new(algorithm, known.encode()).hexdigest()
    assert build_hashed_name(b"x" * 32, "cart-scaled-to-zero") != name


@pytest.mark.parametrize(
    ("text", "mode", "problem"),
    [
        (None, 0o600, "does not exist"),
        ("short", 0o600, "at least 32"),
        ("k" * 44, 0o644, "other users can read"),
        ("k" * 44, 0o600, ""),
    ],
)
def test_key_must_exist_be_long_and_private(tmp_path, text, mode, problem):
    path = tmp_path / "split.key"
    if text is not None:
        path.write_text(text + "\n")
        path.chmod(mode)
    if not problem:
        assert read_key(path) == text.encode()
        return
    with pytest.raises(UsageError, match=problem) as error:
        read_key(path)
    assert error.value.fix


def held_out():
    (found,) = hold_out([entry("secret-cause", title="The carts of the shop have gone away")], {"secret-cause": HASHED})
    return found


@pytest.mark.parametrize(
    ("path", "text", "leaks"),
    [
        ("index.html", "<p>secret-cause</p>", 1),
        ("index.html", "<p>SECRET-CAUSE</p>", 1),
        ("index.html", "<p>another-secret-cause-or-two</p>", 0),
        ("scenarios/secret-cause.html", "", 1),
        ("index.html", "<p>The carts of\n   the shop have &#103;one away</p>", 1),
        ("a.json", '{"x": ["The carts of the shop \\u0068ave gone away"]}', 1),
        ("a.json", '{"secret-cause": 1}', 1),
        ("scenarios/other.html", "Deployment/cart", 0),
        (f"scenarios/{HASHED}.html", "Deployment/cart", 1),
        (f"scenarios/{HASHED}.html", "deployment-scaled-to-zero", 1),
        (f"scenarios/{HASHED}.html", "Deployment/cart-store", 0),
        ("index.html", "carts have gone", 0),
    ],
)
def test_leaks_are_found_in_every_spelling(path, text, leaks):
    assert len(find_published_secrets({path: text}, [held_out()])) == leaks


def test_finding_names_hash_text_and_file():
    (found,) = find_published_secrets({"a.html": "secret-cause"}, [held_out()])
    assert (found.code, found.observed) == ("SK441", "a.html")
    assert HASHED in found.message
    assert found.fix


def test_public_scenarios_have_no_secrets_and_held_out_list_theirs():
    assert find_published_secrets({"a.html": "secret-cause"}, [entry("secret-cause")]) == []
    whats = {each.what for each in list_secrets(held_out())}
    assert {"the name", "the title", "a root cause", "a fault", "a repair"} <= whats


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three scenarios, and a key."""
    folder = tmp_path_factory.mktemp("split")
    for name in CHOSEN:
        shutil.copytree(SCENARIOS / name, folder / "scenarios" / name)
    (folder / "key").write_text("k" * 44)
    (folder / "key").chmod(0o600)
    code = run_command([*split(folder), "--out", str(folder / "out"), "--percent", "50"])
    assert code == 0
    return folder


def split(folder):
    return ["split", str(folder / "scenarios"), "--key-file", str(folder / "key")]


def read_kept(folder, out="out"):
    return json.loads((folder / out / "kept" / "split.json").read_text())


def list_files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_no_held_out_content_is_published_and_files_have_the_canary(folder):
    kept, published = read_kept(folder), list_files(folder / "out" / "published")
    held = kept["heldOut"]
    assert len(held) + len(kept["public"]) == len(CHOSEN)
    assert held
    for path, content in published.items():
        text = content.decode()
        assert CANARY in text
        for name in held:
            spec = load_scenario(SCENARIOS / name / "scenario.yaml").scenario.spec
            assert name not in path
            for secret in (name, spec.title, spec.description):
                assert secret not in text
    for name, hashed in held.items():
        task = published[f"tasks/{hashed}.json"].decode()
        spec = load_scenario(SCENARIOS / name / "scenario.yaml").scenario.spec
        for secret in (*(c.entity for c in spec.ground_truth.root_causes), *(f.type for f in spec.faults)):
            assert not secret or secret not in task
        assert json.loads(task)["brief"] == " ".join(spec.brief.split())
    assert {path.split("/")[1] for path in published if path.startswith("truths/")} == set(kept["public"])
    index = json.loads(published["split.json"])
    assert {each["name"] for each in index["scenarios"]} == {*kept["public"], *held.values()}


def test_kept_scenarios_are_private_complete_and_hashed(folder):
    kept = folder / "out" / "kept"
    assert oct(kept.stat().st_mode & 0o777) == "0o700"
    for name, hashed in read_kept(folder)["heldOut"].items():
        mine = load_scenario(kept / "scenarios" / hashed / "scenario.yaml").scenario
        original = load_scenario(SCENARIOS / name / "scenario.yaml").scenario
        assert mine == msgspec.structs.replace(original, name=hashed)
        assert json.loads((kept / "scenarios" / hashed / "evidence.json").read_text())["scenario"] == hashed


def test_split_is_reproducible_and_never_overwrites(folder, capsys):
    assert run_command([*split(folder), "--out", str(folder / "again"), "--percent", "50"]) == 0
    assert list_files(folder / "again") == list_files(folder / "out")
    before = list_files(folder / "out")
    assert run_command([*split(folder), "--out", str(folder / "out")]) == 3
    assert "already exists" in capsys.readouterr().err
    assert list_files(folder / "out") == before


def test_previous_split_requires_the_same_key(folder, capsys):
    arguments = [*split(folder), "--previous", str(folder / "out"), "--percent", "1", "--seed", "3"]
    assert run_command([*arguments, "--out", str(folder / "third")]) == 0
    assert read_kept(folder, "third")["heldOut"] == read_kept(folder)["heldOut"]
    other = folder / "other-key"
    other.write_text("x" * 44)
    other.chmod(0o600)
    arguments[arguments.index("--key-file") + 1] = str(other)
    assert run_command([*arguments, "--out", str(folder / "fourth")]) == 3
    assert "another key" in capsys.readouterr().err
    assert not (folder / "fourth").exists()


def test_sites_of_split_and_kept_set_show_no_truth(folder, tmp_path):
    held = read_kept(folder)["heldOut"]
    out = str(folder / "out")
    assert run_command(["site", str(folder / "scenarios"), "--split", out, "--out", str(tmp_path / "a")]) == 0
    kept = str(folder / "out" / "kept" / "scenarios")
    assert run_command(["site", kept, "--out", str(tmp_path / "b")]) == 0
    for name, hashed in held.items():
        pages = [(tmp_path / each / "scenarios" / f"{hashed}.html").read_text() for each in "ab"]
        for page in pages:
            assert "its truth is not published" in page
            assert load_scenario(SCENARIOS / name / "scenario.yaml").scenario.spec.title not in page
        assert not (tmp_path / "a" / "scenarios" / f"{name}.html").exists()
        assert name not in "".join(text.decode() for text in list_files(tmp_path / "a").values())
    assert run_command(["split", kept, "--key-file", str(folder / "key"), "--out", str(tmp_path / "c")]) == 3


def test_runs_count_under_real_and_hashed_names_alike(folder, tmp_path):
    name, hashed = next(iter(read_kept(folder)["heldOut"].items()))
    for number, spelled in enumerate((name, hashed)):
        record = {
            "run_id": f"r{number}",
            "scenario": {"id": spelled},
            "agent": {"name": "x"},
            "answer": {"root_causes": []},
        }
        (tmp_path / "runs" / str(number)).mkdir(parents=True)
        (tmp_path / "runs" / str(number) / "record.json").write_text(json.dumps(record))
    arguments = ["site", str(folder / "scenarios"), "--split", str(folder / "out"), "--runs", str(tmp_path / "runs")]
    assert run_command([*arguments, "--out", str(tmp_path / "site")]) == 0
    listed = json.loads((tmp_path / "site" / "catalogue.json").read_text())["scenarios"]
    found = next(each for each in listed if each["name"] == hashed)
    assert found["difficulty"]["runs"] == 2


def test_leak_aborts_the_split(folder, tmp_path, capsys):
    """A public text that contains a held-out title aborts the split without output."""
    held = next(iter(read_kept(folder)["heldOut"]))
    title = load_scenario(SCENARIOS / held / "scenario.yaml").scenario.spec.title
    for name in CHOSEN:
        shutil.copytree(SCENARIOS / name, tmp_path / "scenarios" / name)
        if name != held:
            with (tmp_path / "scenarios" / name / "scenario.yaml").open("a") as stream:
                stream.write(f"# as in: {title}\n")
    arguments = ["split", str(tmp_path / "scenarios"), "--key-file", str(folder / "key"), "--percent", "50"]
    assert run_command([*arguments, "--out", str(tmp_path / "out")]) == 1
    assert "the title of held-out-" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["scenarios"]


def test_invalid_previous_split_is_reported(tmp_path, folder, capsys):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "split.json").write_text('{"seed": "x"}')
    for broken, code in ((tmp_path, 1), (tmp_path / "nowhere", 3)):
        assert run_command([*split(folder), "--previous", str(broken), "--out", str(tmp_path / "out")]) == code
    assert "not a valid split record" in capsys.readouterr().err


def test_snapshot_bears_the_hash_and_no_name():
    assert build_name(HASHED, 7) == f"{HASHED}-7"
    assert build_name("cart-scaled-to-zero", 7) == "Scenario-7"


def test_sets_of_names_are_apart():
    assert assign_sets([], KEY, 0, 30) == SetNames(frozenset(), frozenset())
