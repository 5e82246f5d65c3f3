"""Components in the same pods are one node of the propagation, and share their DNS configuration."""

from __future__ import annotations

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.draft.alerts import _find_paths
from scenario_kit.lint.rules.truth.service_map import _calls
from scenario_kit.model import App, CallEdge, Component, Reference
from scenario_kit.render.simulation.observability import resolves

SHOP = Catalog().app("otel-demo", "2.2.0")
SORTER, STORE = Reference("Deployment", "sorter"), Reference("StatefulSet", "store")


def build_app() -> App:
    """A sorter asks the proxy in its own pods, which asks the store."""
    components = (
        Component(name="sorter", workload=SORTER, role="Entry"),
        Component(name="proxy", workload=SORTER),
        Component(name="store", workload=STORE, service="store", role="Store"),
    )
    calls = (CallEdge(caller="sorter", callee="proxy"), CallEdge(caller="proxy", callee="store"))
    return App(name="a", version="1", namespace="a", entry="sorter", components=components, calls=calls)


def test_drafted_path_has_no_edge_inside_of_pods() -> None:
    app = build_app()
    store = app.component("store")
    assert store is not None
    (edge,) = _find_paths(store, app, {SORTER})
    assert (edge.from_, edge.to, edge.because) == (STORE, SORTER, "proxy depends on store")


def test_step_to_pods_follows_the_call_of_any_program_in_them() -> None:
    app = build_app()
    assert _calls(app, "sorter", "store")
    assert not _calls(app, "store", "sorter")


@pytest.mark.parametrize(("name", "mates"), [("proxy", ("sorter", "proxy")), ("store", ("store",)), ("x", ("x",))])
def test_components_of_a_workload(name: str, mates: tuple[str, ...]) -> None:
    assert build_app().list_pod_mates(name) == mates


def _move(name: str, to: str) -> App:
    """Return the shop with a component in the pods of another."""
    target = SHOP.component(to)
    assert target is not None
    moved = [msgspec.structs.replace(c, workload=target.workload) if c.name == name else c for c in SHOP.components]
    return msgspec.structs.replace(SHOP, components=tuple(moved))


def test_name_of_the_own_pod_needs_no_dns() -> None:
    assert resolves(SHOP, "shipping"), "it asks quote over HTTP"
    assert not resolves(_move("quote", "shipping"), "shipping")


def test_programs_in_the_same_pods_resolve_names_alike() -> None:
    assert not resolves(SHOP, "cart")
    assert resolves(_move("shipping", "cart"), "cart")
