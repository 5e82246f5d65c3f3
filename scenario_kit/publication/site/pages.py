"""The files of a site: HTML pages and JSON documents. The output is deterministic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from markupsafe import Markup

from scenario_kit import __version__
from scenario_kit.catalog.page_templates import hash_source, open_page_templates
from scenario_kit.model.authored.contamination_canary import CANARY, CANARY_KEY
from scenario_kit.model.json_document import format_json
from scenario_kit.publication.content import SiteContent
from scenario_kit.publication.difficulty import correlate_facts
from scenario_kit.publication.site import cost_plot
from scenario_kit.publication.site.fault_table import tabulate_faults
from scenario_kit.publication.views import ScenarioView, build_document, build_views
from scenario_kit.report.leaderboard_page import HEADER, build_rows
from scenario_kit.scoring.leaderboard.board import REFERENCES, Leaderboard

#: The file that marks a folder as a generated site, which may be replaced.
MARK: Final = "site.json"
#: Filters of the catalogue: facet, label, and the label of "no filter".
FILTERS: Final = (
    ("app", "App", "all apps"), ("family", "Fault family", "all families"), ("tier", "Tier", "all tiers"),
    ("difficulty", "Difficulty", "all bands"), ("solver", "Solved by", "any solver"),
    ("set", "Set", "both sets"),
)  # fmt: skip
_BANDS: Final = ("Easy", "Medium", "Hard", "Unmeasured")


def render_site(content: SiteContent) -> dict[str, str]:
    """Render all files by path. All text is escaped, and pages load no external resources."""
    views = build_views(content)
    renderer = _Renderer()
    files = {
        "index.html": renderer.render(
            "catalogue", scenarios=views, filters=_list_filters(views), correlations=_list_correlations(content)
        ),
        "faults.html": _render_faults(renderer, content),
        "leaderboard.html": _render_leaderboard(renderer, content),
    }
    for view in views:
        files[f"scenarios/{view.name}.html"] = renderer.render("scenario", root="../", scenario=view)
    return files | dict(_render_documents(content, views))


class _Renderer:
    """Renders templates with the inline style and script, and the Content-Security-Policy that allows only these."""

    def __init__(self) -> None:
        self._environment = open_page_templates("site", "report")
        sources = {name: self._environment.loader.get_source(self._environment, name)[0]  # type: ignore[union-attr]
                   for name in ("style.css", "site.css", "filter.js")}  # fmt: skip
        style, script = sources["style.css"] + sources["site.css"], sources["filter.js"]
        policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {}; script-src {}"
        self._frame = {
            "style": Markup(style), "script": Markup(script), "kit": __version__,  # trusted: packaged files
            "policy": policy.format(hash_source(style), hash_source(script)),
            "plain_policy": policy.format(hash_source(style), "'none'"), "canary": f"{CANARY_KEY} {CANARY}",
        }  # fmt: skip

    def render(self, page: str, *, root: str = "", **values: Any) -> str:
        template = self._environment.get_template(f"{page}.html.j2")
        return template.render(page=page, root=root, **self._frame, **values)


def _list_filters(views: Sequence[ScenarioView]) -> list[tuple[str, str, str, list[str]]]:
    """List the filters with their values; the set filter only if there are both sets."""
    found = []
    for name, label, every in FILTERS:
        values = {value for view in views for value in view.facets[name]}
        ordered = sorted(values, key=_BANDS.index) if name == "difficulty" else sorted(values)
        if name != "set" or len(ordered) > 1:
            found.append((name, label, every, ordered))
    return found


def _list_correlations(content: SiteContent) -> list[tuple[str, str, int]]:
    found = correlate_facts(list(content.difficulties.values()))
    return [(name, f"{value:+.2f}", count) for name, (value, count) in found.items()]


def _render_faults(renderer: _Renderer, content: SiteContent) -> str:
    used: dict[str, list[str]] = {}
    for entry in content.entries:
        for fault in {use.type for use in entry.scenario.spec.faults} if not entry.held_out else ():
            used.setdefault(fault, []).append(entry.published_name)
    matrices = dict(sorted(content.matrices.items()))
    return renderer.render("faults", apps=list(matrices), families=tabulate_faults(matrices, used))


def _render_leaderboard(renderer: _Renderer, content: SiteContent) -> str:
    board = content.board
    if board is None:
        return renderer.render("leaderboard", board=None)
    return renderer.render(
        "leaderboard", board=board, held_out=_list_held_out(content), header=HEADER, rows=build_rows(board),
        references=sorted({row.solver for row in board.rows} & REFERENCES), outcomes=content.outcomes,
        plot=cost_plot.draw_costs(board), geometry=cost_plot, expected=sum(row.runs for row in board.rows),
        recorded=sum(len(runs) for solvers in content.outcomes.values() for runs in solvers.values()),
    )  # fmt: skip


def _render_documents(content: SiteContent, views: Sequence[ScenarioView]) -> Iterator[tuple[str, str]]:
    yield "catalogue.json", format_json({"canary": CANARY, "scenarios": [build_document(view) for view in views]})
    if content.board is not None:
        yield (
            "leaderboard.json",
            format_json({"canary": CANARY} | _build_board_document(content.board, _list_held_out(content))),
        )
    yield MARK, format_json({"kit": __version__, "canary": CANARY, "scenarios": len(views)})


def _list_held_out(content: SiteContent) -> frozenset[str]:
    return frozenset(entry.published_name for entry in content.entries if entry.held_out)


def _build_board_document(board: Leaderboard, held_out: frozenset[str]) -> dict[str, Any]:
    """Build the leaderboard's JSON, without the fields that tell held-out controls from incidents."""
    document = board.to_json()
    for incident in document["incidents"]:
        if incident["incident"] in held_out:
            incident.pop("control", None)
            incident.pop("trivial", None)
    return document
