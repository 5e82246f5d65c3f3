"""NTAM: worked numbers of SREArena's formula and the corrected form, and invariants."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenario_kit.scoring.graph.assignment import assign_largest
from scenario_kit.scoring.graph.ntam import NtamParameters, compute_corrected, compute_public, compute_specificity
from scenario_kit.scoring.graph.topology import Topology, TopologyEdge, TopologyNode
from tests.scoring.shop import NAMES, shop
from tests.scoring.truths import PROPERTY

SHOP = shop()
CHAIN = ["payment", "checkout", "frontend"]


def test_shop_topology_matches_the_worked_example() -> None:
    assert (len(SHOP.nodes), SHOP.edges) == (10, 13)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("frontend", 0.4653), ("checkout", 0.5577), ("cart product-catalog", 0.6191),
        ("payment ad recommendation flagd", 0.6981), ("frontend-proxy valkey", 0.8095),
    ],
)  # fmt: skip
def test_specificity(names: str, expected: float) -> None:
    assert {round(compute_specificity(SHOP, name), 4) for name in names.split()} == {expected}


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        ("payment", 1.0), ("flagd", 0.5585), ("checkout", 0.4462), ("valkey", 0.4145), ("frontend", 0.2978),
        ("payment flagd", 0.3679), ("not-a-node", 0.0), ("", 0.0),
    ],
)  # fmt: skip
def test_ntam_of_one_root_matches_worked_numbers(prediction: str, expected: float) -> None:
    names = prediction.split()
    assert round(compute_public(SHOP, ["payment"], names), 4) == expected
    assert round(compute_corrected(SHOP, ["payment"], names), 4) == expected


@pytest.mark.parametrize(
    ("prediction", "public", "corrected"),
    [
        ("payment checkout frontend", 1.0, 1.0),
        ("checkout payment frontend", 1.0, 1.0),
        ("flagd checkout frontend", 0.7984, 0.7984),
        ("payment frontend", 0.2856, 0.2503),
        ("payment checkout cart frontend", 0.3679, 0.3679),
        ("payment", 0.0618, 0.0618),
        ("payment not-a-node", 0.1680, 0.0227),
        ("payment checkout cart", 1.0, 0.8871),
        ("payment payment payment", 1.0, 0.0618),
        ("ad cart recommendation", 0.7362, 0.4873),
    ],
)
def test_chain(prediction: str, public: float, corrected: float) -> None:
    names = prediction.split()
    assert round(compute_public(SHOP, CHAIN, names), 4) == public
    assert round(compute_corrected(SHOP, CHAIN, names), 4) == corrected


@pytest.mark.parametrize(
    ("prediction", "parameters", "expected"),
    [
        ("payment frontend", NtamParameters(gamma=0), 0.6804),
        ("payment frontend", NtamParameters(gamma=0.5), 0.4127),
        ("payment frontend", NtamParameters(gamma=1), 0.2503),
        ("payment checkout cart frontend", NtamParameters(gamma=0), 1.0),
        ("payment checkout cart frontend", NtamParameters(gamma=0.5), 0.6065),
        ("payment checkout cart frontend", NtamParameters(gamma=1), 0.3679),
        ("flagd checkout frontend", NtamParameters(tau=0.6), 0.7346),
        ("flagd checkout frontend", NtamParameters(tau=0.8), 0.7984),
        ("flagd checkout frontend", NtamParameters(tau=0.9), 0.8303),
        ("flagd checkout frontend", NtamParameters(beta=0), 0.9087),
        ("flagd checkout frontend", NtamParameters(beta=1), 0.7984),
        ("flagd checkout frontend", NtamParameters(beta=2), 0.7214),
    ],
)
def test_parameters(prediction: str, parameters: NtamParameters, expected: float) -> None:
    assert round(compute_corrected(SHOP, CHAIN, prediction.split(), parameters), 4) == expected


def test_lengths_of_relations() -> None:
    far = NtamParameters(lengths={"calls": 2.0})
    assert compute_corrected(SHOP, ["payment"], ["flagd"], far) == pytest.approx(0.6981 * 0.8**2, abs=1e-4)
    assert compute_corrected(SHOP, ["payment"], ["flagd"], NtamParameters(lengths={"owns": 2.0})) == pytest.approx(
        0.5585, abs=1e-4
    )


@pytest.mark.parametrize("compute", [compute_public, compute_corrected])
def test_empty_truth_is_an_error(compute: object) -> None:
    with pytest.raises(ValueError, match="at least one"):
        compute(SHOP, [], ["payment"])  # type: ignore[operator]


TRUTHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)
ANSWERS = st.lists(st.sampled_from([*NAMES, "invented", "made-up"]), max_size=7)


@PROPERTY
@given(TRUTHS, ANSWERS)
def test_bounds(truth: list[str], answer: list[str]) -> None:
    assert 0 <= compute_public(SHOP, truth, answer) <= 1
    assert 0 <= compute_corrected(SHOP, truth, answer) <= 1


@PROPERTY
@given(TRUTHS)
def test_identity(truth: list[str]) -> None:
    assert compute_public(SHOP, truth, truth) == pytest.approx(1)
    assert compute_corrected(SHOP, truth, truth) == pytest.approx(1)


@PROPERTY
@given(TRUTHS, ANSWERS, st.randoms())
def test_corrected_ntam_ignores_order_and_repetition(truth: list[str], answer: list[str], random: object) -> None:
    again = [*answer, *answer]
    random.shuffle(again)  # type: ignore[attr-defined]
    assert compute_corrected(SHOP, truth, again) == pytest.approx(compute_corrected(SHOP, truth, answer))


@PROPERTY
@given(TRUTHS, ANSWERS, st.lists(st.text("xyz", min_size=1), max_size=4))
def test_invented_names_never_raise_corrected_ntam(truth: list[str], answer: list[str], padding: list[str]) -> None:
    before = compute_corrected(SHOP, truth, answer)
    assert compute_corrected(SHOP, truth, [*answer, *padding]) <= before + 1e-12


@PROPERTY
@given(
    st.integers(1, 4).flatmap(
        lambda columns: st.lists(st.lists(st.floats(0, 1), min_size=columns, max_size=columns), min_size=1, max_size=4)
    )
)
def test_assignment_is_optimal(values: list[list[float]]) -> None:
    rows, columns = len(values), len(values[0])
    slots = [*range(columns), *[None] * rows]
    best = max(
        sum(values[row][column] for row, column in enumerate(choice) if column is not None)
        for choice in itertools.permutations(slots, rows)
    )
    assert assign_largest(values) == pytest.approx(best)


def test_large_topology_is_scored_quickly() -> None:
    count = 100_000
    nodes = [TopologyNode(str(i), str(i)) for i in range(count)]
    edges = [TopologyEdge(str(i), str((i * 7 + j) % count)) for i in range(count) for j in (1, 2, 3)]
    topology = Topology(nodes, edges)
    score = compute_corrected(topology, ["1", "500", "77777"], [str(i) for i in range(0, 2000, 100)])
    assert 0 <= score <= 1
