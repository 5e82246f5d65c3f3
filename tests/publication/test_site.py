"""The site: complete pages, escaped texts, no held-out truth, reproducible bytes, atomic output."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import msgspec
import pytest

from scenario_kit.cli import run as run_command
from scenario_kit.errors import UsageError
from scenario_kit.model.authored.contamination_canary import CANARY
from scenario_kit.publication.site.folder import write_site
from scenario_kit.publication.site.pages import MARK, render_site
from tests.publication.catalogue import HASHED, HOSTILE, SCENARIOS, content, entry

VOID = ("meta", "link", "br", "img", "input", "rect", "line")


class Page(HTMLParser):
    """A parsed document: elements with attributes and text; wrong nesting is an error."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        element = (tag, dict(attrs), [])
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag):
        assert self.open[-1][0] == tag
        self.open.pop()

    def handle_data(self, data):
        for element in self.open:
            element[2].append(data)

    def all(self, tag):
        return [(attributes, "".join(text)) for name, attributes, text in self.elements if name == tag]


def hostile_site():
    texts = {"brief": HOSTILE, "title": HOSTILE, "description": HOSTILE}
    return render_site(
        content(entry(**texts), entry("up"), entry("secret-cause", hashed=HASHED), solvers=("good", HOSTILE))
    )


FILES = hostile_site()
PAGES = {name: text for name, text in FILES.items() if name.endswith(".html")}


def test_each_scenario_has_a_page_and_json():
    assert set(FILES) == {
        "index.html", "faults.html", "leaderboard.html", "scenarios/down.html", "scenarios/up.html",
        f"scenarios/{HASHED}.html", "catalogue.json", "leaderboard.json", MARK,
    }  # fmt: skip
    listed = json.loads(FILES["catalogue.json"])["scenarios"]
    assert [each["name"] for each in listed] == ["down", HASHED, "up"]
    assert listed[0]["difficulty"]["share"] == 0.5
    assert listed[0]["solvers"] == {"good": {"share": 1.0, "runs": 1}, HOSTILE: {"share": 0.0, "runs": 1}}


@pytest.mark.parametrize("name", PAGES)
def test_pages_can_be_walked_by_keyboard_and_read_aloud(name):
    page = Page(PAGES[name])
    assert page.all("html")[0][0]["lang"] == "en"
    assert len(page.all("main")) == len(page.all("h1")) == len(page.all("header")) == len(page.all("footer")) == 1
    assert page.all("a")[0][0] == {"class": "skip", "href": "#content"}
    assert all(attributes.get("aria-label") for attributes, _ in page.all("nav"))
    labels = {attributes["for"] for attributes, _ in page.all("label")}
    fields = [attributes["id"] for tag in ("input", "select") for attributes, _ in page.all(tag)]
    assert labels == set(fields)
    for attributes, _ in page.all("th"):
        assert attributes["scope"] in ("col", "row")
    for tag, attributes, _ in page.elements:
        if attributes.get("class") == "scroll":  # what scrolls can be reached, and has a name
            assert attributes["tabindex"] == "0"
            assert attributes.get("aria-label") or attributes.get("aria-labelledby")
        if tag == "svg":
            assert attributes["role"] == "img"
    ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", PAGES)
def test_pages_load_nothing_and_allow_only_own_style_and_script(name):
    page = Page(PAGES[name])
    (policy,) = [a["content"] for a, _ in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    directives = dict(each.strip().split(" ", 1) for each in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert "unsafe" not in policy
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        for _, text in page.all(tag):
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert directives[directive] == f"'sha256-{digest}'"
    assert len(page.all("script")) == (name == "index.html")
    for _, attributes, _ in page.elements:
        assert not {"src", "srcset", "style"} & set(attributes)
        assert not [key for key in attributes if key.startswith("on")]
        assert not re.match(r"[a-z]+:|//", attributes.get("href") or "")


@pytest.mark.parametrize("name", PAGES)
def test_links_resolve_to_existing_pages_and_anchors(name):
    for attributes, _ in Page(PAGES[name]).all("a"):
        path, _, place = attributes["href"].partition("#")
        up = "scenarios/" if name.startswith("scenarios/") else ""
        target = name if not path else path.removeprefix("../") if path.startswith("../") else up + path
        assert target in FILES
        if place:
            assert f'id="{place}"' in FILES[target]


def test_hostile_texts_stay_texts():
    for text in PAGES.values():
        assert "<script>alert" not in text
        page = Page(PAGES["scenarios/down.html"])
    assert HOSTILE in page.all("blockquote")[0][1]  # with what a template would have evaluated
    assert HOSTILE in page.all("details")[0][1]
    card = next(a for a, _ in Page(PAGES["index.html"]).all("li") if "data-facets" in a)
    assert json.loads(card["data-facets"])["solver"] == ["good"]


def test_page_without_script_shows_all_scenarios():
    page = Page(PAGES["index.html"])
    assert "hidden" in page.all("form")[0][0]
    cards = [attributes for attributes, _ in page.all("li") if "data-facets" in attributes]
    assert len(cards) == 3
    assert not [attributes for attributes in cards if "hidden" in attributes]


def test_public_truth_is_only_inside_the_disclosure():
    given = entry("up")
    page = Page(PAGES["scenarios/up.html"])
    ((attributes, text),) = page.all("details")
    assert "open" not in attributes
    for secret in (given.scenario.spec.title, given.scenario.spec.solutions[0].description):
        assert " ".join(secret.split()) in " ".join(text.split())
        assert secret not in re.sub(r"<details>.*</details>", "", PAGES["scenarios/up.html"], flags=re.DOTALL)
        assert not [name for name, other in FILES.items() if secret in other and not name.startswith("scenarios/")]


def test_held_out_scenarios_publish_only_hash_brief_and_alert_names():
    given = entry("secret-cause", hashed=HASHED)
    page = PAGES[f"scenarios/{HASHED}.html"]
    assert "secret-cause" not in "".join(FILES.values())
    assert given.scenario.spec.brief[:40] in page
    assert not Page(page).all("details")
    for secret in (
        given.scenario.spec.title, "Deployment/cart", *(use.type for use in given.scenario.spec.faults),
        "Workload specification", *(each.name for each in given.scenario.spec.solutions), "complexity", "hops",
    ):  # fmt: skip
        assert secret not in page.partition("<body>")[2]
    document = next(e for e in json.loads(FILES["catalogue.json"])["scenarios"] if e["name"] == HASHED)
    assert document["families"] == []
    assert document["difficulty"]["facts"]["hops"] is document["difficulty"]["facts"]["decoys"] is None
    board = json.loads(FILES["leaderboard.json"])
    assert next(e for e in board["incidents"] if e["incident"] == HASHED).keys() == {"incident", "solvers"}


def test_every_file_has_the_canary():
    assert [name for name, text in FILES.items() if CANARY not in text] == []


def test_equal_content_gives_equal_bytes():
    assert hostile_site() == FILES


def test_difficulty_without_runs_is_unmeasured():
    files = render_site(content(entry(), solvers=()))
    assert "There are no runs of solvers yet." in files["leaderboard.html"]
    assert "unmeasured: there are no runs (n = 0)" in files["scenarios/down.html"]
    assert "leaderboard.json" not in files


def test_missing_runs_are_no_failures_in_incident_table():
    whole = content(entry("down"), entry("up"))
    partly = msgspec.structs.replace(whole, outcomes={"down": whole.outcomes["down"]})
    page = render_site(partly)["leaderboard.html"]
    assert "2 of 4 runs were made so far" in page
    assert page.count('<td class="cell soft">–</td>') == 2
    assert "were made so far" not in render_site(whole)["leaderboard.html"]


def test_reference_solvers_do_not_affect_difficulty():
    found = content(entry(), solvers=("good", "oracle", "bad", "nop"))
    assert found.difficulties["down"].solvers == 2
    assert "oracle" in render_site(found)["scenarios/down.html"]
    assert "nop and oracle: no solver, but a reference" in render_site(found)["leaderboard.html"]


def test_outdated_and_missing_evidence_is_shown():
    old = msgspec.structs.replace(entry("old"), current=False)
    none = msgspec.structs.replace(entry("none"), evidence=None, current=False)
    files = render_site(content(old, none))
    assert "OUTDATED" in files["scenarios/old.html"]
    assert "the scenario has changed since" in files["scenarios/old.html"]
    assert "NO EVIDENCE" in files["scenarios/none.html"]
    assert "not validated, or not recorded" in files["scenarios/none.html"]


def test_site_folder_is_replaced_atomically(tmp_path):
    goal = tmp_path / "site"
    write_site({MARK: "{}", "old.html": "old"}, goal)
    write_site({MARK: "{}", "a/new.html": "new"}, goal)
    assert sorted(p.relative_to(goal).as_posix() for p in goal.rglob("*") if p.is_file()) == ["a/new.html", MARK]
    assert [p.name for p in tmp_path.iterdir()] == ["site"]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="not a site that may be replaced"):
        write_site({MARK: "{}"}, mine)
    assert (mine / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("name", ["../out.html", "/out.html"])
def test_paths_outside_folder_are_refused_and_files_kept(tmp_path, name):
    goal = tmp_path / "site"
    write_site({MARK: "{}", "index.html": "old"}, goal)
    with pytest.raises(UsageError):
        write_site({MARK: "{}", name: "x"}, goal)
    assert (goal / "index.html").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["site"]


def test_command_writes_a_site_of_one_scenario(tmp_path, capsys):
    out = tmp_path / "site"
    arguments = ["site", str(SCENARIOS / "cart-scaled-to-zero"), "--out", str(out)]
    assert run_command(arguments) == 0, capsys.readouterr().err
    assert "1 scenarios" in capsys.readouterr().out
    page = (out / "scenarios" / "cart-scaled-to-zero.html").read_text()
    assert "PASS" in page or "OUTDATED" in page
    assert run_command([*arguments, "--runs", str(tmp_path / "nowhere")]) == 3
    assert page == (out / "scenarios" / "cart-scaled-to-zero.html").read_text()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colours_have_the_contrast_of_wcag_aa(mode):
    style = re.search(r"<style>(.*?)</style>", PAGES["index.html"], re.DOTALL)[1]
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    colours = dict(re.findall(r"--([a-z]+): #([0-9a-f]+)", blocks[0 if mode == "light" else 1]))
    for ground in ("ground", "card"):
        for ink in ("ink", "soft", "good", "bad", "open", "accent"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def contrast(one, other):
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(colour):
    """Relative luminance (WCAG 2.1)."""
    digits = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
