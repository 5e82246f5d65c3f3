"""``validate-pr`` over real repositories: good, bad and hostile contributions, without a cluster."""

import json
import os
import shutil
import subprocess

import pytest

from scenario_kit.catalog import find_data_root
from scenario_kit.cli import run

NAME = "product-catalog-wrong-target-port"
SHIPPED = find_data_root() / "catalog" / "scenarios" / NAME


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with one scenario on main, and a branch for the test."""
    for key in [k for k in os.environ if k.startswith("GIT")]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    root = tmp_path / "checkout"
    shutil.copytree(SHIPPED, root / "catalog" / "scenarios" / NAME)
    (root / "README.md").write_text("a catalogue\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "A Person")
    git(root, "config", "user.email", "a@example.org")
    commit(root, "Start")
    git(root, "checkout", "-q", "-b", "change")
    return root


def git(root, *arguments):
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def commit(root, message="Change", sign=True):
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message, *(["--signoff"] if sign else []))


def scenario(root, name=NAME):
    return root / "catalog" / "scenarios" / name / "scenario.yaml"


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def validate(root, *more):
    out = root.parent / "out"
    code = run(["validate-pr", "--repository", str(root), "--base", "main", "--out", str(out), *more])
    summary = out / "summary.md"
    return code, summary.read_text() if summary.exists() else ""


def test_change_of_text_needs_no_run(checkout):
    edit(scenario(checkout), "  title: ", "  title: Once more, ")
    commit(checkout)
    code, summary = validate(checkout)
    assert code == 0
    assert "lane L0: spec.title changed" in summary


def test_new_scenario_gets_the_full_tier(checkout, capsys):
    ignored = shutil.ignore_patterns("evidence.json")  # which only maintainers add
    shutil.copytree(SHIPPED, scenario(checkout, "pages-fail").parent, ignore=ignored)
    edit(scenario(checkout, "pages-fail"), f"name: {NAME}", "name: pages-fail")
    commit(checkout)
    code, summary = validate(checkout, "--static-only")
    shown = capsys.readouterr().out
    assert ("SK216" in shown and code == 1) or ("lane L3: it is new" in summary and code == 0)


def test_changed_brief_requires_validation_of_labels(checkout):
    edit(scenario(checkout), "  decoys:", "  # they differ\n  decoys:")
    edit(scenario(checkout), "  brief: ", "  brief: Since a minute or so, ")
    commit(checkout)
    assert "lane L2: spec.brief changed" in validate(checkout, "--static-only")[1]


def test_change_without_scenario_passes(checkout):
    (checkout / "README.md").write_text("another text\n")
    commit(checkout)
    code, summary = validate(checkout)
    assert (code, summary.splitlines()[:3]) == (0, ["# PASS", "", "No scenario has changed; nothing to validate."])


def test_files_outside_scenario_folder_are_refused(checkout):
    edit(scenario(checkout), "  title: ", "  title: Once more, ")
    (checkout / "README.md").write_text("and this\n")
    commit(checkout)
    code, summary = validate(checkout)
    assert code == 1
    assert summary.splitlines()[2] == f"this pull request touches files outside catalog/scenarios/{NAME}/: README.md."


def test_authoring_error_has_file_and_line(checkout, capsys):
    edit(scenario(checkout), "type: service-target-port-wrong", "type: service-target-prt-wrong")
    commit(checkout)
    code, _ = validate(checkout)
    assert code == 1
    assert "SK108" in capsys.readouterr().out


def test_github_annotations_and_step_summary_are_written(checkout, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    edit(scenario(checkout), "type: service-target-port-wrong", "type: service-target-prt-wrong")
    commit(checkout)
    validate(checkout)
    assert "::error file=" in capsys.readouterr().out
    assert (tmp_path / "step.md").read_text().startswith("# FAIL")


def test_symlink_out_of_the_folder_is_refused(checkout):
    (scenario(checkout).parent / "faults").symlink_to("/etc")
    commit(checkout)
    code, summary = validate(checkout)
    assert code == 1
    assert "symbolic link" in summary


def test_submodule_that_git_is_asked_to_ignore_is_refused(checkout):
    path = f"catalog/scenarios/{NAME}/notes"
    git(checkout, "checkout", "-q", "main")
    (checkout / ".gitmodules").write_text(f'[submodule "notes"]\n\tpath = {path}\n\turl = ../notes\n\tignore = all\n')
    commit(checkout, "Ignore")
    git(checkout, "checkout", "-q", "-B", "change")
    git(checkout, "update-index", "--add", "--cacheinfo", f"160000,{git(checkout, 'rev-parse', 'HEAD').strip()},{path}")
    git(checkout, "commit", "-q", "--signoff", "-m", "Add notes")
    code, summary = validate(checkout)
    assert code == 1
    assert f"{path} is a submodule" in summary


def test_commit_without_sign_off_is_refused(checkout):
    edit(scenario(checkout), "  title: ", "  title: Once more, ")
    commit(checkout, "Say more", sign=False)
    code, summary = validate(checkout)
    assert code == 1
    assert "SK004" in summary
    assert validate(checkout, "--no-sign-off")[0] == 0


def test_scenario_may_be_removed(checkout):
    shutil.rmtree(scenario(checkout).parent)
    commit(checkout)
    code, summary = validate(checkout)
    assert (code, "is removed" in summary) == (0, True)


def test_folder_without_scenario_is_refused(checkout):
    scenario(checkout).unlink()
    (scenario(checkout).parent / "NOTES.md").write_text("It was here.\n")
    commit(checkout)
    code, summary = validate(checkout)
    assert (code, "**SK002**" in summary, "is removed" in summary) == (1, True, False)
    assert f"catalog/scenarios/{NAME}/ has no scenario.yaml" in summary


def test_repository_code_is_never_executed(checkout, tmp_path):
    proof = tmp_path / "ran"
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {proof}\nexit 0\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "diff.evil.command", "diff.evil.textconv", "core.pager"):
        git(checkout, "config", key, str(program))
    (checkout / ".gitattributes").write_text("* diff=evil\n")
    edit(scenario(checkout), "  title: ", "  title: Once more, ")
    hook = checkout / ".git" / "hooks" / "post-checkout"
    hook.write_text(program.read_text())
    hook.chmod(0o755)
    git(checkout, "-c", "core.fsmonitor=false", "add", "-A")
    git(checkout, "-c", "core.fsmonitor=false", "commit", "-q", "--signoff", "-m", "x")
    proof.unlink(missing_ok=True)
    code, _ = validate(checkout)
    assert code == 1, ".gitattributes lies outside of the folder"
    assert not proof.exists()


def test_filters_and_checks_of_signatures_are_off(checkout, tmp_path):
    proof, program = tmp_path / "ran", tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {proof}\ncat\n")
    program.chmod(0o755)
    git(checkout, "config", "gpg.program", str(program))
    git(checkout, "config", "log.showSignature", "true")
    (checkout / ".git" / "info").mkdir(exist_ok=True)
    (checkout / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    edit(scenario(checkout), "  title: ", "  title: Once more, ")
    commit(checkout)
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nSay more"
    raw = git(checkout, "cat-file", "commit", "HEAD").replace("\n\n", "\n" + signature + "\n", 1)
    (tmp_path / "commit").write_text(raw)
    signed = git(checkout, "hash-object", "-t", "commit", "-w", str(tmp_path / "commit"))
    git(checkout, "reset", "-q", "--soft", signed.strip())
    for key in ("clean", "process", "smudge"):
        git(checkout, "config", f"filter.evil.{key}", str(program))
    git(checkout, "config", "filter.evil.required", "true")
    scenario(checkout).write_text(scenario(checkout).read_text() + "# not committed\n")

    code, summary = validate(checkout, "--static-only")

    assert code == 0, summary
    assert not proof.exists()


@pytest.mark.parametrize("base", ["nowhere", "--output=/tmp/x", "main..evil"])
def test_invalid_base_is_a_usage_error(checkout, base, capsys):
    assert run(["validate-pr", "--repository", str(checkout), f"--base={base}"]) == 3
    assert "fix:" in capsys.readouterr().err


def test_outside_of_a_repository(tmp_path, capsys):
    assert run(["validate-pr", "--repository", str(tmp_path), "--base", "main"]) == 3
    assert "not a Git repository" in capsys.readouterr().err


def test_all_static_layers_report_in_one_run(checkout):
    edit(scenario(checkout), "type: service-target-port-wrong", "type: service-target-prt-wrong")
    (checkout / "README.md").write_text("and this\n")
    commit(checkout, sign=False)
    code, summary = validate(checkout)
    assert code == 1
    for finding in ("**SK002**", "**SK004**", f"**SK108** error at `catalog/scenarios/{NAME}/scenario.yaml:"):
        assert finding in summary
    assert "- fix: " in summary


def test_verdict_replaces_earlier_report(checkout):
    out = checkout.parent / "out"
    (out / "runs" / "old").mkdir(parents=True)
    (out / "runs" / "old" / "report.json").write_text("{}")
    (out / "kept.txt").write_text("somebody's own\n")
    edit(scenario(checkout), "  title: ", "  title: Once more, ")
    commit(checkout)
    assert validate(checkout)[0] == 0
    report = json.loads((out / "report.json").read_text())
    assert report["validation"]["verdict"] == "Pass"
    assert not (out / "runs").exists()
    assert (out / "kept.txt").exists()
    edit(scenario(checkout), "type: service-target-port-wrong", "type: service-target-prt-wrong")
    commit(checkout)
    assert validate(checkout)[0] == 1
    assert json.loads((out / "report.json").read_text())["validation"]["verdict"] == "Fail"
    assert "FAIL" in (out / "report.html").read_text()


def test_brief_is_shown_beside_the_answer(checkout, capsys):
    edit(scenario(checkout), "  title: ", "  title: Once more, ")
    commit(checkout)
    _, summary = validate(checkout)
    assert "A person must read the brief" in summary
    assert "Service/product-catalog" in summary
    shown = capsys.readouterr().out
    assert "brief:  Customers report" in shown
    assert "answer: Service/product-catalog" in shown


def write_local_fault(root):
    """A fault type beside the scenario, with which it breaks the Service from now on."""
    catalogued = find_data_root() / "catalog" / "faults" / "service-target-port-wrong" / "fault.yaml"
    file = scenario(root).parent / "faults" / "own" / "fault.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(catalogued.read_text().replace("name: service-target-port-wrong", "name: own", 1))
    edit(scenario(root), "type: service-target-port-wrong", "type: own")
    return file


def test_own_fault_type_in_pull_request_is_checked(checkout, capsys):
    fault = write_local_fault(checkout)
    edit(fault, "mitigation: Native\n", "")
    commit(checkout)
    code, summary = validate(checkout, "--static-only")
    assert code == 1
    assert "SK414" in summary
    assert "faults/own/fault.yaml" in capsys.readouterr().out


@pytest.mark.parametrize("place", ["faults/x.sh", "faults/own/x.sh", "faults/own/more/x.sh", "bin/x.sh"])
def test_executable_in_scenario_folder_is_refused(checkout, place):
    write_local_fault(checkout)
    program = scenario(checkout).parent / place
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("echo\n")
    commit(checkout)
    code, summary = validate(checkout, "--static-only")
    assert (code, summary.count("**SK219**")) == (1, 1)
