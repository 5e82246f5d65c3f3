"""The page in a browser, where there is one: it draws, follows, and takes nothing of the lab for markup."""

import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from scenario_kit.lab.page.server import PageSite, serve

from .conftest import HOSTILE, Lab

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium on PATH")

Open = Callable[..., str]


@pytest.fixture
def open_page(little: Lab, tmp_path: Path) -> Iterator[Open]:
    """The document of the page after some seconds of the browser's own, virtual time."""
    server = serve(PageSite(little, "t", "demo"), 0)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"

    def open_(fragment: str = "#token=t", width: int = 1280) -> str:
        command = [BROWSER, *flags.split(), f"--user-data-dir={tmp_path}", f"--window-size={width},900"]
        command += [
            "--virtual-time-budget=3000",
            "--dump-dom",
            f"http://127.0.0.1:{server.server_address[1]}/{fragment}",
        ]
        run = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert "<html" in run.stdout, run.stderr[-2000:]
        return run.stdout

    try:
        yield open_
    finally:
        server.shutdown()
        server.server_close()


class Texts(HTMLParser):
    """The elements of a document, with their attributes and the text inside."""

    VOID = ("meta", "link", "br", "img")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, dict(attrs), [])
        self.elements.append(element)
        if tag not in self.VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for _, _, text in self._open:
            text.append(data)

    def of(self, id_: str) -> str:
        return next("".join(text) for _, attributes, text in self.elements if attributes.get("id") == id_)


def test_page_draws_components_and_escapes_text(open_page: Open, little: Lab) -> None:
    html = open_page()
    page = Texts(html)
    boxes = [a for tag, a, _ in page.elements if tag == "g" and a.get("role") == "button"]
    assert {a["data-key"] for a in boxes} == {c["name"] for c in little.document["components"]}
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in boxes)
    by = {a["data-key"]: a["aria-label"] for a in boxes}
    assert by["payment"] == "payment, 0/1 ready, 0/1 CrashLoopBackOff, 4.2/s, p95 38 ms, 7 restarts"
    assert by["checkout"].endswith("firing: HighRequestErrorRate")
    # What chromium could have taken for markup.
    assert not [tag for tag, _, _ in page.elements if tag == "img"]
    assert [tag for tag, _, _ in page.elements].count("script") == 1
    assert not [a for _, a, _ in page.elements if any(name.startswith("on") for name in a)]
    assert re.search(r"<title>lab demo</title>", html)
    assert HOSTILE in page.of("logs")
    assert HOSTILE in page.of("events")
    # What is broken comes first, in words as well.
    assert page.of("unwell").startswith("checkout 93% fail")
    assert "firing HighRequestErrorRate on Deployment/checkout for 3:40" in page.of("now")
    assert page.of("logs-title") == "Logs of checkout"
    assert "+8:00" in page.of("alerts")


def test_page_opens_at_the_url_fragment(open_page: Open) -> None:
    page = Texts(open_page("#token=t&world=otel-demo&component=email", width=390))
    assert page.of("logs-title") == "Logs of email"
    assert "email cannot reach the card service" in page.of("logs")


@pytest.mark.parametrize(
    ("fragment", "message"),
    [("", "the token is missing or wrong"), ("#token=t&world=other", "The world in other has ended.")],
)
def test_page_explains_an_empty_view(open_page: Open, fragment: str, message: str) -> None:
    assert message in Texts(open_page(fragment)).of("trouble")


def test_empty_lab_page_has_a_hint(open_page: Open, little: Lab) -> None:
    little.gone = True
    page = Texts(open_page())
    assert "kubectl apply" in page.of("nothing")
    assert not page.of("trouble")
