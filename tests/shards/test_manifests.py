"""The objects of a Job: least rights, an immutable input, and what is retried."""

from __future__ import annotations

import msgspec
import pytest

from scenario_kit.cli.validation.shard_run import INDEX_VARIABLE
from scenario_kit.cli.validation.shard_run import NAMESPACE as CLI_NAMESPACE
from scenario_kit.errors import InfrastructureError, UsageError
from scenario_kit.shards import manifests
from scenario_kit.shards.manifests import (
    NAMESPACE,
    PERMANENT_CODE,
    QUEUE_LABEL,
    ShardJob,
    build_manifests,
    derive_job_name,
)
from tests.shards.conftest import make_work

WORK = make_work("a", "b", "c", shards=3)


def build(work=WORK, documents=(), **options):
    objects = build_manifests(work, ShardJob(**options), documents)
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in objects}


def job(**options):
    (found,) = [each for each in build(**options).values() if each["kind"] == "Job"]
    return found


def test_each_shard_is_an_index_with_its_own_retries():
    spec = job(retries=5)["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 3, 3)
    assert spec["backoffLimitPerIndex"] == 5
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    assert "suspend" not in spec
    assert INDEX_VARIABLE == "JOB_COMPLETION_INDEX"


@pytest.mark.parametrize(("asked", "expected"), [(0, 3), (2, 2), (50, 3)])
def test_pods_at_a_time(asked, expected):
    assert job(parallelism=asked)["spec"]["parallelism"] == expected


def test_exit_codes_are_those_of_the_program():
    rules = job()["spec"]["podFailurePolicy"]["rules"]
    codes = {rule["action"]: rule["onExitCodes"]["values"] for rule in rules if "onExitCodes" in rule}
    assert codes == {"FailJob": [PERMANENT_CODE]}
    assert InfrastructureError.exit_code not in codes["FailJob"]
    assert {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]} in rules


def test_queued_job_is_suspended_until_admitted():
    found = job(queue="nightly-queue")
    assert found["spec"]["suspend"] is True
    assert found["metadata"]["labels"][QUEUE_LABEL] == "nightly-queue"
    assert QUEUE_LABEL not in job()["metadata"]["labels"]
    requests = found["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
    assert set(requests) == {"cpu", "memory"}  # what Kueue counts


def test_nothing_in_the_pod_is_privileged():
    spec = job()["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert [m["mountPath"] for m in container["volumeMounts"] if not m.get("readOnly")] == ["/tmp"]


def test_input_is_immutable_and_mounted_where_the_program_reads_it():
    objects = build(documents=["{}", "{}"])
    inputs = [each for each in objects.values() if each["kind"] == "ConfigMap"]
    assert len(inputs) == 3
    assert all(each["immutable"] for each in inputs)
    (found,) = [each for each in objects.values() if each["kind"] == "Job"]
    spec = found["spec"]["template"]["spec"]
    (volume,) = [each for each in spec["volumes"] if each["name"] == "input"]
    sources = [source["configMap"] for source in volume["projected"]["sources"]]
    assert [source["name"] for source in sources] == [each["metadata"]["name"] for each in inputs]
    assert [source["items"][0]["path"] for source in sources] == ["work.json", "files/0.json", "files/1.json"]
    assert all(s["items"][0]["key"] in i["data"] for s, i in zip(sources, inputs, strict=True))
    assert spec["containers"][0]["args"][:5] == ["shards", "run", "/input/work.json", "--files", "/input/files"]
    (bare,) = [each for each in build(documents=[]).values() if each["kind"] == "Job"]
    assert "--files" not in bare["spec"]["template"]["spec"]["containers"][0]["args"]


def test_role_permits_results_only():
    (role,) = [each for each in build().values() if each["kind"] == "Role"]
    assert role["rules"] == [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create", "patch"]}]


def test_result_volume_needs_no_role_or_token():
    objects = build(results_claim="bucket")
    assert not [each for each in objects if each.startswith("Role")]
    (found,) = [each for each in objects.values() if each["kind"] == "Job"]
    spec = found["spec"]["template"]["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["containers"][0]["args"][-2:] == ["--results", "/results"]
    assert {"name": "results", "persistentVolumeClaim": {"claimName": "bucket"}} in spec["volumes"]


def test_another_work_list_is_another_job():
    """Templates of Jobs and data of the input are immutable: the same name could not be applied."""
    names = {derive_job_name(WORK), derive_job_name(make_work("a", "b", "c", shards=3, b="changed"))}
    assert len(names) == 2
    assert derive_job_name(WORK) == derive_job_name(make_work("a", "b", "c", shards=3))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"namespace": "Bad"}, "--namespace Bad"),
        ({"namespace": "a.b"}, "--namespace a.b"),
        ({"results_claim": "a..b"}, "--results-claim a..b"),
        ({"queue": "a/b"}, "--queue a/b"),
        ({"results_claim": "-x"}, "--results-claim -x"),
        ({"cpu": "many"}, "--cpu many"),
        ({"memory": "4 GB"}, "--memory 4 GB"),
        ({"memory": "0"}, "--memory 0"),
        ({"cpu": "-1"}, "--cpu -1"),
    ],
)
def test_parameters_that_the_api_server_would_refuse_are_named(options, said):
    with pytest.raises(UsageError, match=said) as caught:
        build(**options)
    assert caught.value.fix


def test_claims_are_named_as_objects_are():
    (volume,) = [
        v for v in job(results_claim="data.team-a")["spec"]["template"]["spec"]["volumes"] if v["name"] == "results"
    ]
    assert volume["persistentVolumeClaim"] == {"claimName": "data.team-a"}


def test_size_of_a_work_list_is_one_in_bytes(monkeypatch):
    items = [msgspec.structs.replace(item, path=f"シナリオ/{item.path}" * 20) for item in WORK.items]
    work = msgspec.structs.replace(WORK, items=tuple(items))
    monkeypatch.setattr(manifests, "MAX_BYTES", len(work.to_bytes()) - 1)
    with pytest.raises(UsageError, match="make a work list of"):
        build(work)
    monkeypatch.setattr(manifests, "MAX_BYTES", len(work.to_bytes()))
    build(work)


def test_oversized_work_list_is_refused(monkeypatch):
    monkeypatch.setattr(manifests, "MAX_BYTES", 300)
    with pytest.raises(UsageError, match="3 scenarios make a work list of"):
        build()


def test_namespace_matches_the_commands():
    assert CLI_NAMESPACE == NAMESPACE
