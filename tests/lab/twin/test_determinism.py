"""The same seed and history give the same bytes, wherever they are computed; other seeds vary as load does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.lab.twin import tiny
from tests.lab.twin.history import digests
from tests.lab.twin.twin_cluster import TICK, TwinCluster

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("app", "version"), [("otel-demo", "2.2.0"), ("hotel-reservation", "6ecb097")])
def test_series_are_identical_across_processes(app: str, version: str) -> None:
    """Neither the order of mappings, nor the seed of hashes, nor what was computed before has a say."""
    other = subprocess.Popen(
        [sys.executable, "-m", "tests.lab.twin.history", app, version, "7", "backwards"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONHASHSEED": "4711"},
    )  # fmt: skip
    here = list(digests(app, version, 7))
    reported, _ = other.communicate()
    assert other.returncode == 0
    assert reported.split() == here
    assert len(set(here)) == len(here) == 8  # every tick says something new


def counts(seed: int) -> list[float]:
    """Requests that the entry of the tiny app serves in each tick: 20 users, who think for 2 s in the mean."""
    cluster = TwinCluster(tiny.app(), tiny.objects(), seed=seed)
    cluster.run(60.0)
    return [cluster.run(TICK).calls("gate", kind="SERVER") for _ in range(20)]


def test_different_seeds_are_independent() -> None:
    """Users are independent: neither synchronised nor bursty."""
    table = np.array([counts(seed) for seed in range(30)])
    assert len({tuple(row) for row in table.tolist()}) == 30
    assert table.mean() == pytest.approx(20 / 2.0 * TICK, rel=0.02)
    # Poisson has a variance of the mean; 600 ticks tell that to about 6 %.
    assert table.var(ddof=1) / table.mean() == pytest.approx(1.0, abs=0.25)
    # Users who wait for answers regulate themselves: over minutes the load varies less than a Poisson stream does.
    totals = table.sum(axis=1)
    assert 0.1 < totals.var(ddof=1) / totals.mean() < 1.5
    # One tick says nothing about the next one of the same seed, nor about the same tick of the next seed.
    centred = (table - table.mean()) / table.std()
    for near in (centred[:, 1:] * centred[:, :-1], centred[1:] * centred[:-1]):
        assert abs(near.mean()) < 0.15
