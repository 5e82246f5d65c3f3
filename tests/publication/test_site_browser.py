"""The site in a browser, if there is one: no page is wider than a phone, and filters work."""

import http.server
import json
import re
import shutil
import subprocess
import threading
from functools import partial
from html import unescape

import pytest

from scenario_kit.publication.site.folder import write_site
from scenario_kit.publication.site.pages import render_site
from tests.publication.catalogue import HASHED, HOSTILE, content, entry

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium on PATH")
WIDTHS = (360, 1280)
FILTERED = {
    "": [["down", HASHED], "2 scenarios"],
    "#solver=good": [["down", HASHED], "2 scenarios"],
    "#difficulty=Unheard": [["down", HASHED], "2 scenarios"],  # a value that is no option chooses nothing
    "#text=nothing+has+this": [[], "0 of 2 scenarios"],
    "#set=held-out&tier=simulated": [[HASHED], "1 of 2 scenarios"],
}
#: Loads every page in frames of each width, and writes what it finds: how far each page is wider than its frame, and
#: the cards that a filter leaves.
PROBE = """<!doctype html><meta charset="utf-8"><pre id="found"></pre><script>
const pages = PAGES, found = {wide: {}, cards: {}};
const load = (src, width) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = 900;
  frame.onload = () => done(frame);
  frame.src = src;
  document.body.append(frame);
});
(async () => {
  for (const width of WIDTHS) for (const page of pages) {
    const frame = await load(page, width), root = frame.contentDocument.documentElement;
    for (const each of frame.contentDocument.querySelectorAll("details")) each.open = true;
    found.wide[`${page} at ${width}`] = root.scrollWidth - root.clientWidth;
  }
  for (const fragment of FRAGMENTS) {
    const frame = await load(`index.html?${encodeURIComponent(fragment)}${fragment}`, 800);
    const text = frame.contentDocument, count = text.getElementById("count").textContent;
    const shown = [...text.querySelectorAll("#scenarios > li")].filter((each) => !each.hidden);
    found.cards[fragment] = [shown.map((each) => each.querySelector("h2").textContent), count];
    found.form = !text.getElementById("filters").hidden;
  }
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    files = render_site(
        content(entry("down", brief=HOSTILE + "x" * 200, title=HOSTILE), entry("secret-cause", hashed=HASHED))
    )
    pages = [name for name in files if name.endswith(".html")]
    probe = PROBE.replace("PAGES", json.dumps(pages)).replace("WIDTHS", json.dumps(WIDTHS))
    probe = probe.replace("FRAGMENTS", json.dumps(list(FILTERED)))
    write_site(files | {"probe.html": probe}, folder / "site")
    handler = partial(QuietHandler, directory=str(folder / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
        run = subprocess.run(
            [
                BROWSER, *flags.split(), f"--user-data-dir={folder / 'profile'}", "--window-size=1400,900",
                "--virtual-time-budget=20000", "--dump-dom", f"http://127.0.0.1:{server.server_address[1]}/probe.html",
            ],
            capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        server.shutdown()
    match = re.search(r'<pre id="found">(.+?)</pre>', run.stdout, re.DOTALL)
    assert match, run.stdout[-1000:] + run.stderr[-2000:]
    return json.loads(unescape(match[1]))


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_pages_fit_their_window(found):
    assert len(found["wide"]) == 5 * len(WIDTHS)
    assert {page: over for page, over in found["wide"].items() if over > 0} == {}


def test_filters_show_matches_and_count(found):
    assert found["form"]
    assert found["cards"] == FILTERED
