"""``lab alerts``: rows, their formatting, and change messages."""

import pytest

from scenario_kit.cli.lab import alerts
from scenario_kit.cli.lab.alerts import AlertLine


def build_world(**changed):
    return {
        "namespace": "shop-x1y2", "namespaces": ["shop-x1y2", "shop-x1y2-stores"], "trial": "cart-repeat-1",
        "mode": "Virtual", "now": 1_000_600.0, "startedAt": 1_000_000.0, "injectedAt": 1_000_300.0,
        "alerts": [
            {"name": "KubePodNotReady", "entity": "Deployment/cart", "state": "Pending", "since": 1_000_420.0},
            {"name": "HighRequestErrorRate", "entity": "Deployment/web", "state": "Firing", "since": 1_000_555.0},
        ],
        **changed,
    }  # fmt: skip


def build_alert(namespace="default", state="firing"):
    labels = {"alertname": "KubeNodeNotReady", "node": "worker-1", "severity": "critical"}
    labels |= {"namespace": namespace} if namespace else {}
    return {"labels": labels, "state": state, "activeAt": "2001-09-09T01:46:40.123Z"}


NOW = 1_000_000_060.0


def test_trial_alerts_use_virtual_time_and_others_wall_time():
    found = alerts.build_rows(
        [build_world()], [build_alert(""), build_alert("shop-x1y2"), build_alert("shop-x1y2-stores", "pending")], NOW
    )
    assert [row.cells() for row in found] == [
        ("", "KubeNodeNotReady", "Firing", "node=worker-1", "1:00", "01:46:40", "wall"),
        ("shop-x1y2", "HighRequestErrorRate", "Firing", "Deployment/web", "0:45", "13:55:55 (+4:15)", "virtual"),
        ("shop-x1y2", "KubePodNotReady", "Pending", "Deployment/cart", "3:00", "13:53:40 (+2:00)", "virtual"),
    ]


@pytest.mark.parametrize(
    ("changed", "since"),
    [({"injectedAt": None}, "13:53:40"), ({"injectedAt": 1_000_430.0}, "13:53:40 (−0:10)")],
)
def test_time_since_injection_is_shown_if_injected(changed, since):
    row = next(r for r in alerts.build_rows([build_world(**changed)], [], NOW) if r.state == "Pending")
    assert row.cells()[5] == since


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "cart-repeat-1 in shop-x1y2: 13:56:40 UTC virtual time, running for 10:00, 5:00 after the injection"),
        ({"injectedAt": None, "mode": "Wall", "trial": ""}, "shop-x1y2: 13:56:40 UTC wall clock, running for 10:00"),
    ],
)
def test_world_in_a_line(changed, expected):
    assert alerts.format_heading(build_world(**changed)) == expected


def test_only_changed_alerts_are_listed():
    pending = AlertLine("shop", "Errors", "Pending", "Deployment/web", 60.0, 0.0, "wall")
    firing = pending._replace(state="Firing", since=240.0, lasting=5.0, after=180.0)
    assert alerts.list_changes([], [pending]) == ["shop: Errors Deployment/web pending since 00:01:00 wall"]
    assert alerts.list_changes([pending], [pending._replace(lasting=9.0)]) == []
    assert alerts.list_changes([pending], [firing]) == [
        "shop: Errors Deployment/web firing since 00:04:00 (+3:00) wall"
    ]
    assert alerts.list_changes([firing], []) == ["shop: Errors Deployment/web over"]
