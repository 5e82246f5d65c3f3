"""The CI files: pinned, bounded, without privileges where a stranger's text is near."""

import re

import pytest
import yaml

from scenario_kit.catalog import find_data_root

FILES = sorted((find_data_root() / ".github" / "workflows").glob("*.yml"))


def steps(workflow):
    return [(job, step) for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.fixture(params=FILES, ids=lambda f: f.stem)
def workflow(request):
    found = yaml.safe_load(request.param.read_text())
    found["on"] = found.pop(True)
    return found


def test_workflows_are_two_stages_tests_site_catalogue_kind_and_real_node():
    assert [f.stem for f in FILES] == ["catalogue", "comment", "kind", "pages", "pull-request", "real-node", "tests"]


def test_actions_are_pinned_to_commits(workflow):
    for _, step in steps(workflow):
        if "uses" in step:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"])


def test_jobs_have_timeouts_and_explicit_permissions(workflow):
    assert workflow["permissions"]
    longest = 240 if workflow["name"] in ("kind", "real-node") else 60  # these run on the wall clock
    assert all(0 < job["timeout-minutes"] <= longest for job in workflow["jobs"].values())


def test_nobodys_text_becomes_a_command(workflow):
    """Contexts reach a shell through its environment only."""
    for _, step in steps(workflow):
        assert "${{" not in step.get("run", "")
        if "actions/checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


def test_workflows_with_write_access_never_check_out_the_change(workflow):
    assert "pull_request_target" not in workflow["on"]
    writes = "write" in workflow["permissions"].values()
    if writes:
        assert set(workflow["on"]) == {"workflow_run"}
        for _, step in steps(workflow):
            assert "ref" not in step.get("with", {})
    else:
        assert workflow["permissions"] == {"contents": "read"}
        assert "secrets." not in str(workflow)


def test_pull_request_workflow_installs_the_base_kit():
    found = yaml.safe_load((find_data_root() / ".github" / "workflows" / "pull-request.yml").read_text())
    refs = {s["with"]["path"]: s["with"]["ref"] for _, s in steps(found) if "actions/checkout" in s.get("uses", "")}
    assert "base.sha" in refs["kit"]
    assert "head.sha" in refs["change"]
    installed = " ".join(s.get("run", "") for _, s in steps(found))
    assert "kit/ci/venv" in installed
    assert "change/ci" not in installed
    assert "./change" not in installed


def test_oldest_and_the_newest_python_are_tested():
    found = yaml.safe_load((find_data_root() / ".github" / "workflows" / "tests.yml").read_text())
    assert found["jobs"]["tests"]["strategy"]["matrix"]["python"] == ["3.11", "3.14"]
    commands = [s.get("run") for _, s in steps(found)]
    assert {"ci/test --fast", "ci/demo"} <= set(commands)


def test_results_of_a_failed_shard_are_kept_for_the_next_run():
    """``actions/cache`` itself saves only what jobs leave that succeed."""
    found = yaml.safe_load((find_data_root() / ".github" / "workflows" / "catalogue.yml").read_text())
    caches = {s["uses"].split("@")[0]: s for s in found["jobs"]["shard"]["steps"] if "results" in str(s.get("with"))}
    restored, saved = caches["actions/cache/restore"], caches["actions/cache/save"]
    assert saved["if"] == "always()"
    assert saved["with"]["key"] == restored["with"]["key"]
    assert restored["with"]["key"].startswith(restored["with"]["restore-keys"])
    assert "actions/cache" not in caches


def test_publish_job_runs_no_code_and_build_job_only_reads():
    found = yaml.safe_load((find_data_root() / ".github" / "workflows" / "pages.yml").read_text())
    jobs = found["jobs"]
    assert "permissions" not in jobs["build"]
    assert jobs["publish"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert [step["uses"].partition("@")[0] for step in jobs["publish"]["steps"]] == ["actions/deploy-pages"]
    assert set(found[True]) == {"push", "workflow_dispatch"}
    assert found[True]["push"] == {"branches": ["main"]}


def test_only_pages_publish_has_job_permissions():
    for path in FILES:
        for name, job in yaml.safe_load(path.read_text())["jobs"].items():
            assert "permissions" not in job or (path.stem, name) == ("pages", "publish")
