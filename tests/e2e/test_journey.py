"""Every command that a new contributor runs, from an empty draft to a judged pull request, with the time of each.

The trials of `validate-pr` are those of the standard plan and take minutes: they run with SCENARIO_KIT_JOURNEY=full.
Times are printed, and written to `runs/journey.json` of the checkout.
"""

import json
import os
import subprocess
import sys
import time

from scenario_kit.catalog import find_data_root

ROOT = find_data_root()
NAME = "quote-out-of-order"


class Journey:
    """Runs commands in a folder; records their durations and output."""

    def __init__(self, folder):
        self.folder, self.took = folder, {}
        unwanted = ("GIT", "GITHUB")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
        self.environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(self, *arguments):
        subprocess.run(
            ["git", "-c", "user.name=A Person", "-c", "user.email=a@example.org", *arguments],
            cwd=self.folder, check=True, capture_output=True, env=self.environment, timeout=120,
        )  # fmt: skip

    def run(self, what, *arguments):
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "scenario_kit.cli", *arguments],
            cwd=self.folder, capture_output=True, text=True, env=self.environment, timeout=1800, check=False,
        )  # fmt: skip
        self.took[what] = round(time.monotonic() - began, 2)
        message = done.stdout + done.stderr
        assert done.returncode == 0, f"{what}: {message}"
        return message


def test_contributor_commands_from_draft_to_pull_request(lab, tmp_path):
    full = os.environ.get("SCENARIO_KIT_JOURNEY") == "full"
    clone, there = tmp_path / "clone", f"catalog/scenarios/{NAME}"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True, timeout=120)
    journey = Journey(clone)
    journey.git("checkout", "-q", "-B", "main")
    journey.git("checkout", "-q", "-b", NAME)
    at = ("--name", lab.name)

    journey.run(
        "new", "new", NAME, "--app", "otel-demo", "--target", "quote", "--fault", "deployment-scaled-to-zero",
        "--output", "catalog/scenarios",
    )  # fmt: skip
    file = clone / there / "scenario.yaml"
    assert "no findings" in journey.run("lint", "lint", there)
    message = journey.run("try --accept", "try", there, "--accept", *at)
    assert "PASS" in message
    assert "accepted" in message  # into the file, or what a draft foretold is what was seen
    assert "class: MustFire" in file.read_text()
    journey.run("lint again", "lint", there)
    assert "PASS" in journey.run("verify", "verify", there, *at)
    journey.git("add", there)
    journey.git("commit", "-q", "--signoff", "-m", "An incident: quotes are out of order")
    more = () if full else ("--static-only",)
    message = journey.run("validate-pr", "validate-pr", "--base", "main", "--out", str(tmp_path / "pr"), *at, *more)
    assert "lane L3" in message
    assert "PASS" in (tmp_path / "pr" / "summary.md").read_text()
    assert f"# PASS: {NAME}" in journey.run("report", "report", f"runs/{NAME}")

    print("; ".join(f"{what} {seconds} s" for what, seconds in journey.took.items()))
    record = ROOT / "runs" / "journey.json"
    record.parent.mkdir(exist_ok=True)
    record.write_text(json.dumps({"full": full, "seconds": journey.took}, indent=1) + "\n")
