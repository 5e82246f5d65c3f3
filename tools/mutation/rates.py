"""Kill rates of samples as a table, and its place in docs/mutation.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.mutation.mutants import Mutant
from tools.mutation.record import Tried

BEGIN, END = "<!-- rates: written by ci/mutate --page -->", "<!-- end of rates -->"


@dataclass(frozen=True)
class Rate:
    """The results for a package: ``mutants`` in all, ``tried`` of the sample with that seed, ``killed`` of those."""

    package: str
    seed: int
    mutants: int
    tried: int
    killed: int
    accepted: int
    date: str

    @property
    def percent(self) -> float:
        """Killed mutants in percent of those tried; accepted survivors count as survivors."""
        return 100 * self.killed / self.tried if self.tried else 0.0


def rate(
    package: str,
    seed: int,
    every: Sequence[Mutant],
    drawn: Sequence[Mutant],
    known: Mapping[str, Tried],
    accepted: Mapping[str, str],
) -> Rate:
    """Count the results of a sample."""
    tried = [known[mutant.key] for mutant in drawn if mutant.key in known]
    alive = [one for one in tried if one.answer != "killed"]
    date = max((one.date for one in tried), default="")
    killed = len(tried) - len(alive)
    return Rate(package, seed, len(every), len(tried), killed, sum(o.key in accepted for o in alive), date)


def list_survivors(drawn: Sequence[Mutant], known: Mapping[str, Tried]) -> list[Mutant]:
    """List the survivors by file and line."""
    alive = [mutant for mutant in drawn if mutant.key in known and known[mutant.key].answer != "killed"]
    return sorted(alive, key=lambda mutant: (mutant.path, mutant.line, mutant.name))


def render_table(rates: Sequence[Rate]) -> str:
    """Format the rates as a Markdown table."""
    lines = ["| package | sample | mutants | tried | killed | survived | of them accepted | rate | date |"]
    lines += ["|---|--:|--:|--:|--:|--:|--:|--:|---|"]
    lines += [
        f"| {r.package} | {r.seed} | {r.mutants} | {r.tried} | {r.killed} | {r.tried - r.killed} | {r.accepted} "
        f"| {r.percent:.1f} % | {r.date} |"
        for r in rates
    ]
    return "\n".join(lines)


def insert_table(page: str, rates: Sequence[Rate]) -> str:
    """Put the table into the page; packages without a new rate keep their row."""
    head, _, rest = page.partition(BEGIN)
    old, _, tail = rest.partition(END)
    fresh = {r.package for r in rates}
    kept = [line for line in old.splitlines() if line.startswith("| ") and line.split()[1] not in {"package", *fresh}]
    header, rule, *rows = render_table(rates).splitlines()
    return "\n".join([head + BEGIN, header, rule, *sorted([*kept, *rows]), END]) + tail
