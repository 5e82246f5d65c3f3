from __future__ import annotations

import promql_parser
import pytest

from scenario_kit.errors import AuthoringError
from scenario_kit.observe import scope

NS = 'namespace="shop-1"'


@pytest.mark.parametrize(
    ("expr", "scoped"),
    [
        ("up", f"up{{{NS}}}"),
        ("up{}", f"up{{{NS}}}"),
        ('up{a="b"}', f'up{{{NS},a="b"}}'),
        ('up{a="b",}', f'up{{{NS},a="b",}}'),
        ('{__name__="up"}', f'{{{NS},__name__="up"}}'),
        ('{__name__="node_load1"}', '{__name__="node_load1"}'),
        ('{__name__=~"node_load1|up"}', f'{{{NS},__name__=~"node_load1|up"}}'),
        ('{__name__!="node_load1",a="b"}', f'{{{NS},__name__!="node_load1",a="b"}}'),
        ('{"up", a="b"}', f'{{{NS},"up", a="b"}}'),
        ("rate(x[2m] offset 1m)", f"rate(x{{{NS}}}[2m] offset 1m)"),
        ("x @ start() + x @ 5", f"x{{{NS}}} @ start() + x{{{NS}}} @ 5"),
        ("sum by (a, b) (x) > bool 3", f"sum by (a, b) (x{{{NS}}}) > bool 3"),
        ("sum(x) without (a)", f"sum(x{{{NS}}}) without (a)"),
        ("sum by (sum) (sum)", f"sum by (sum) (sum{{{NS}}})"),
        ("x * on (a) group_left (b) y", f"x{{{NS}}} * on (a) group_left (b) y{{{NS}}}"),
        ("x and on () y unless z", f"x{{{NS}}} and on () y{{{NS}}} unless z{{{NS}}}"),
        ("kube_node_info * on (node) kube_pod_info", f"kube_node_info * on (node) kube_pod_info{{{NS}}}"),
        ("absent(x) or vector(1)", f"absent(x{{{NS}}}) or vector(1)"),
        ("topk(5, x) > Inf", f"topk(5, x{{{NS}}}) > Inf"),
        ("-x ^ 0x1F > 1e3 + .5", f"-x{{{NS}}} ^ 0x1F > 1e3 + .5"),
        ("max_over_time(rate(x[1m])[10m:15s])", f"max_over_time(rate(x{{{NS}}}[1m])[10m:15s])"),
        ('label_replace(x, "a", "{y}$1", "b", "(.*)")', f'label_replace(x{{{NS}}}, "a", "{{y}}$1", "b", "(.*)")'),
        ("count_values('v', x{a=~`{d}`, b='\\''})", f"count_values('v', x{{{NS},a=~`{{d}}`, b='\\''}})"),
        ("x # y{z}\n + y", f"x{{{NS}}} # y{{z}}\n + y{{{NS}}}"),
        ("a:b:c / 5", f"a:b:c{{{NS}}} / 5"),
        ("5", "5"),
    ],
)
def test_scope(expr: str, scoped: str) -> None:
    assert scope(expr, "shop-1") == scoped
    promql_parser.parse(scoped)


@pytest.mark.parametrize("expr", ["sum(", "x{a=}", "", "rate(x)", "x y", 'x{a="b" or c="d"}'])
def test_invalid_promql_is_refused(expr: str) -> None:
    with pytest.raises(AuthoringError, match="PromQL"):
        scope(expr, "shop")


def test_query_is_scoped_to_all_app_namespaces() -> None:
    scoped = scope('sum by (pod) (rate(hits{code="500"}[5m])) / node_load1', "shop", "shop-stores")

    assert scoped == 'sum by (pod) (rate(hits{namespace=~"shop|shop-stores",code="500"}[5m])) / node_load1'
