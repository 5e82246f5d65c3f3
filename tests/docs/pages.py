"""The documentation as data: its pages, and the console sessions in them."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: Commands that a page shows and that do not end: an interrupt does, as at a terminal.
ENDLESS = ("kubectl get scenarios -w", "scenario-kit lab open", "scenario-kit lab alerts --watch")
#: Commands that .ci/run executes as they stand.
STEPS = ("ci/check", "ci/demo", "ci/editor", "ci/gen", "ci/test", "ci/test --fast")
#: Programs of ci that end in seconds, so that they are executed as they stand.
QUICK = ("ci/defects --list", "ci/shape", "ci/venv")
FUZZ = "SCENARIO_KIT_FUZZ=50 pytest --timeout=0 tests/fuzz"
SNAPSHOT = "scenario-kit snapshot catalog/scenarios/cart-scaled-to-zero --quiet-minutes 2 --hold-minutes 1"
#: What is executed for commands that take hours, or need what a test has not: all of it but the work itself.
INSTEAD = {
    FUZZ: f"{FUZZ} --collect-only",
    "ci/bench": "ci/bench --help",
    "ci/snapshots": "ci/snapshots --help",
    SNAPSHOT: f"{SNAPSHOT} --help",  # tests/e2e/test_snapshot.py does
    # tests/e2e/test_snapshot.py and tests/exporters do.
    "scenario-kit snapshot catalog/scenarios/cart-scaled-to-zero": "scenario-kit snapshot --help",
    "scenario-kit snapshot catalog/scenarios/cart-scaled-to-zero --control": "scenario-kit snapshot --help",
    "scenario-kit export harbor snapshots --out tasks": "scenario-kit export --help",
    "scenario-kit export inspect snapshots --out inspect": "scenario-kit export --help",
    "scenario-kit export aiopslab catalog/scenarios/cart-scaled-to-zero --out live": "scenario-kit export --help",
    "ci/peers": "ci/peers --help",
    "ci/catalogue": "ci/catalogue --help",
    "ci/drafts": "ci/drafts --list --fault deployment-scaled-to-zero",
    "ci/kueue": "ci/kueue --help",
    "ci/leaderboard": "ci/leaderboard --help",
    "ci/matrix": "ci/matrix --list --fault deployment-scaled-to-zero",
    "ci/mutate": "ci/mutate --help",
    "ci/validate-pr --base origin/main": "ci/validate-pr --base origin/main --help",
    "ci/evidence --check": "ci/evidence --help",
    "ci/evidence product-catalog-wrong-target-port": "ci/evidence --help",
    "ci/evidence --carry HEAD~1": "ci/evidence --help",
    "ci/image": "ci/image --help",
    "ci/image --verify dist/scenario-kit.tar": "ci/image --help",
    "ci/image --check": "ci/image --check --help",
    "ci/image --load kind --cluster demo": "ci/image --load kind --cluster demo --help",
    "ci/image --push registry.example.org/team/scenario-kit:0.1.0": "ci/image --push x --help",
    "ci/image --lab": "ci/image --lab --help",
    "ci/kind": "ci/kind --help",
    "ci/telemetry": "ci/telemetry --help",
    "ci/reality --check": "ci/reality --help",
    "ci/reality": "ci/reality --help",
    "ci/e2e --real-node --check": "ci/e2e --help",
    "ci/e2e --real-node --sample": "ci/e2e --help",
    "ci/e2e --real-node --shards": "ci/e2e --help",
    "ci/e2e --real-node --evidence": "ci/e2e --help",
    "ci/e2e --real-node": "ci/e2e --help",
    "ci/defects --static": "ci/defects --list",
    "ci/defects --lab NAME": "ci/defects --list",
    "ci/resilience --lab mine --number 10": "ci/resilience --table",
    "ci/resilience --lab mine --live": "ci/resilience --table",
    "ci/crash --lab mine --number 32": "ci/crash --table",
    "ci/crash --simulated": "ci/crash --table",
    "ci/soak --lab mine --trials 200": "ci/soak --help",
    "scenario-kit leaderboard catalog/scenarios/product-catalog-wrong-target-port solutions --out site": (
        "scenario-kit leaderboard --help"
    ),
    # One scenario instead of all, and away from the checkout.
    "scenario-kit site catalog/scenarios --out site": (
        "scenario-kit site catalog/scenarios/cart-scaled-to-zero --out $SCENARIO_KIT_HOME/site"
    ),
    "(umask 077; head -c 32 /dev/urandom | base64 > split.key)": (
        "(umask 077; head -c 32 /dev/urandom | base64 > $SCENARIO_KIT_HOME/split.key)"
    ),
    "scenario-kit split catalog/scenarios --key-file split.key --percent 30 --out split": (
        "scenario-kit split catalog/scenarios --key-file $SCENARIO_KIT_HOME/split.key --percent 30"
        " --out $SCENARIO_KIT_HOME/split"
    ),
    "scenario-kit site catalog/scenarios --split split --out site": (
        "scenario-kit site catalog/scenarios --split $SCENARIO_KIT_HOME/split --out $SCENARIO_KIT_HOME/site"
    ),
    "scenario-kit site catalog/scenarios --runs solutions --prices prices.json --out site": "scenario-kit site --help",
    # tests/schema/test_server.py applies what it prints.
    "scenario-kit operator manifests --image registry.example/scenario-kit:1"
    " --prometheus-url http://prometheus.monitoring:9090 | kubectl apply -f -": "scenario-kit operator manifests",
    "scenario-kit operator manifests --image registry.example/scenario-kit:1 --platform --kustomize base": (
        "scenario-kit operator manifests --help"  # tests/cli/test_operator.py does, in a folder of its own
    ),
    "scenario-kit operator manifests --image registry.example/scenario-kit:1 --helm chart": (
        "scenario-kit operator manifests --help"  # tests/schema/test_chart.py does, in a folder of its own
    ),
    # tests/webhook/test_api_server.py applies what it prints.
    "scenario-kit render --bundle catalog/scenarios/hotel-all-errors | kubectl apply --server-side -f -": (
        "scenario-kit render --bundle catalog/scenarios/hotel-all-errors"
    ),
    # tests/e2e/test_rights.py uses what it prints.
    "scenario-kit operator kubeconfig --as solver --context kind-demo --namespace otel-demo > oncall.kubeconfig": (
        "scenario-kit operator kubeconfig --help"
    ),
    # tests/cli/test_kind_cluster.py does, as far as it goes without an engine.
    "scenario-kit verify my-scenarios/shipping-scaled-to-zero --cluster kind --image dist/scenario-kit.tar": (
        "scenario-kit verify --help"
    ),
    # tests/e2e/test_validation.py does, in a lab.
    "scenario-kit verify my-scenarios/shipping-scaled-to-zero --cluster current --context staging --plan quick": (
        "scenario-kit verify --help"
    ),
    # tests/cli/test_shards.py and tests/shards/test_server.py do.
    "scenario-kit shards plan catalog/scenarios --shards 20 --plan standard --out work.json": (
        "scenario-kit shards plan catalog/scenarios/cart-scaled-to-zero --shards 1 --out $SCENARIO_KIT_HOME/work.json"
    ),
    "scenario-kit shards manifests work.json --image registry.example/scenario-kit-lab:0.1.0"
    " | kubectl apply --server-side -f -": (
        "scenario-kit shards manifests $SCENARIO_KIT_HOME/work.json --image registry.example/scenario-kit-lab:0.1.0"
    ),
    "scenario-kit shards collect work.json --context staging": "scenario-kit shards collect --help",
    "scenario-kit shards run work.json --index 3 --results results": "scenario-kit shards run --help",
    "scenario-kit shards collect work.json --results results": "scenario-kit shards collect --help",
    "scenario-kit verify catalog/scenarios --plan standard --shard 3/20": "scenario-kit verify --help",
    "kubectl -n scenario-kit-shards delete jobs,configmaps -l scenariokit.io/work=catalogue": "true",
    # tests/e2e/test_snapshot.py records a trial of a lab as if the lab were another's.
    "scenario-kit snapshot my-scenarios/shipping-scaled-to-zero --cluster current --context staging"
    " --prometheus http://127.0.0.1:9090 --jaeger http://127.0.0.1:16686": "scenario-kit snapshot --help",
    "scenario-kit doctor --context kind-demo --prometheus-url http://127.0.0.1:9090": "scenario-kit doctor --help",
}
#: Pages whose commands tests/e2e/test_pages.py and test_tutorial.py execute, but for the steps of .ci/run.
IN_A_LAB = ("README.md", "lab.md", "plans.md", "solve.md", "status.md", "tutorial.md")


@dataclass
class Shown:
    """A command as a page shows it, and the lines of output below it."""

    command: str
    output: list[str] = field(default_factory=list)


def blocks(text, language):
    return [match[2] for match in _FENCE.finditer(text) if match[1] == language]


def session(text):
    """Every ``$ `` command of the console blocks of a text, in order; without the comments behind them."""
    shown = []
    for line in "".join(blocks(text, "console")).splitlines():
        if line.startswith("$ "):
            shown.append(Shown(re.sub(r"\s{2,}#.*$", "", line[2:])))
        elif line.strip():
            shown[-1].output.append(line.strip())
    return shown


def environment(**more):
    """Build the environment of a user with this interpreter's programs on PATH."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", **more}


def perform(commands, folder, *, seconds=540, **variables):
    """Run commands of a page, one after the other in one shell, as a person would; returns what they print."""
    lines = []
    for command in commands:
        ending = f"timeout --signal=INT 15 {command}; [ $? = 124 ]" if command in ENDLESS else command
        lines += [f"echo {shlex.quote('$ ' + command)}", f"{{ {ending}; }} || {{ echo FAILED; exit 1; }}"]
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False,
        env=environment(**variables),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def play(shown, folder, *, extra=""):
    """Run a command of a page in a shell, with this interpreter's programs; it prints what the page says it does."""
    done = subprocess.run(
        ["bash", "-c", shown.command + extra],
        cwd=folder, capture_output=True, text=True, env=environment(), timeout=300, check=False,
    )  # fmt: skip
    message = done.stdout + done.stderr
    fails = any(" error " in line for line in shown.output)
    assert done.returncode == (1 if fails else 0), f"{shown.command}: {message}"
    for line in shown.output:
        assert line in message, f"{shown.command} does not print {line!r}: {message}"
