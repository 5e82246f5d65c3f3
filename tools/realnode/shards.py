"""Shards on the real node: run the printed Job with the image of the lab in two pods, and collect the results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from scenario_kit.campaign import TRY
from scenario_kit.catalog import find_collections, find_data_root
from scenario_kit.model import Object, Reference
from scenario_kit.shards.assessment import AssessedResult, assess_result, choose_exit_code, count_standings
from scenario_kit.shards.content_digest import digest_root
from scenario_kit.shards.manifests import ShardJob, build_manifests
from scenario_kit.shards.payload import choose_root, list_shipped_files, pack_files
from scenario_kit.shards.planning import WorkRequest, plan_work
from scenario_kit.shards.result_store import ConfigMapStore
from scenario_kit.shards.work_list import WorkList
from tools.realnode.node.cluster import RealCluster

#: One for each pod; the lab validates each within minutes.
SCENARIOS: Final = ("busy-afternoon", "cart-scaled-to-zero")
#: Two labs share the processors and the memory of one machine.
_JOB: Final = ShardJob(cpu="500m", memory="3Gi")
#: The longest that both may take, in seconds.
_SECONDS: Final = 1800.0


def run_shards(cluster: RealCluster, image: str, say: Callable[[str], None]) -> bool:
    """Validate two scenarios in two pods, and return whether both results were collected and pass.

    Raises:
        LabError: the Job does not end.
    """
    files = [find_data_root() / "catalog" / "scenarios" / name / "scenario.yaml" for name in SCENARIOS]
    work = plan_work(WorkRequest(files, TRY, len(files), name="real-node"))
    job = _JOB._replace(image=image)
    objects = build_manifests(work, job, _pack(work, files))
    for obj in objects:
        cluster.client.apply(obj)
    ref = Reference("Job", objects[-1]["metadata"]["name"], job.namespace, "batch")
    cluster.processes.wait(lambda: is_over(cluster.client.get(ref)), _SECONDS, lambda: f"{cluster.client.get(ref)}")
    assessed = collect_results(cluster, work, job.namespace)
    for each in assessed:
        say(f"{each.item.scenario}: {each.standing}, {each.verdict}, {each.seconds:.0f} s, {each.reason}")
    say(f"shards: {count_standings(assessed)}")
    return choose_exit_code(assessed) == 0


def _pack(work: WorkList, files: list[Path]) -> list[str]:
    observed = {root: digest_root(root) for root in find_collections(files)}
    return pack_files(list_shipped_files(work, [choose_root(known, observed) for known in work.roots]))


def is_over(job: Object | None) -> bool:
    """Return whether a Job has completed or failed."""
    conditions = ((job or {}).get("status") or {}).get("conditions") or ()
    return any(c["type"] in ("Complete", "Failed") and c["status"] == "True" for c in conditions)


def collect_results(cluster: RealCluster, work: WorkList, namespace: str) -> list[AssessedResult]:
    """Collect the results of a work list."""
    store = ConfigMapStore(cluster.client, namespace)
    return [assess_result(work, item, store.read(work.name, item.scenario)) for item in work.items]
