"""What pages show of a lab, executed as it stands in the text, each page in one shell."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
from pages import ROOT, STEPS, blocks, perform, session

SCENARIO = ROOT / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"


def commands(text: str) -> list[str]:
    return [shown.command for shown in session(text) if shown.command not in STEPS]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[str]:
    """Where a person's labs are, none so far."""
    yield str(tmp_path / "home")
    perform(["scenario-kit lab down"], ROOT, SCENARIO_KIT_HOME=str(tmp_path / "home"))


def scenario(folder: Path, name: str, **spec: object) -> Path:
    """The scenario of the pages, in virtual time, under a name of its own."""
    document = yaml.safe_load(SCENARIO.read_text())
    document["metadata"] |= {"name": name, "annotations": {"scenariokit.io/clock": "Virtual"}}
    document["spec"] |= spec
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(document))
    return folder / f"{name}.yaml"


def test_incident_by_hand(home: str) -> None:
    message = perform(commands((ROOT / "README.md").read_text()), ROOT, SCENARIO_KIT_HOME=home, BROWSER="true")
    assert "product-catalog-wrong-target-port" in message
    pods = message.partition("kubectl get pods")[2]
    assert "product-catalog-" in pods, message


def test_lab(home: str, tmp_path: Path) -> None:
    first, *others = commands((ROOT / "docs" / "lab.md").read_text())
    apply = [
        'eval "$(scenario-kit lab up)"',
        f"kubectl apply -f {scenario(tmp_path, 'shown')}",
        "kubectl wait scenario shown --for=condition=SymptomsPresent --timeout=5m",
    ]
    perform([first, *apply, *others[:-1], f"{others[-1]} || [ $? = 2 ]"], ROOT, SCENARIO_KIT_HOME=home)


def test_plans(lab, tmp_path: Path) -> None:
    for each in commands((ROOT / "docs" / "plans.md").read_text()):
        message = perform([f"{each} --name {lab.name} --runs {tmp_path / 'runs'}"], ROOT)
        assert "PASS cart-scaled-to-zero" in message


def test_status(lab, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "status.md").read_text()
    validation = next(b for b in blocks(text, "yaml") if "before-the-release" in b)
    document = yaml.safe_load(validation)
    document["spec"] |= {"plan": "Try", "scenario": "stored"}
    (tmp_path / "validation.yaml").write_text(yaml.safe_dump(document))
    stored = scenario(tmp_path, "stored", suspend=True)
    waited, looked, cleared = (commands(f"```console\n{block}```") for block in blocks(text, "console"))
    variables = {"KUBECONFIG": lab.state.kubeconfig}
    message = perform(
        [
            f"kubectl apply -f {stored}",
            "kubectl apply -f validation.yaml",
            *waited,
            "kubectl delete -f validation.yaml",
        ],
        tmp_path,
        **variables,
    )
    assert "PASS" in message

    left = scenario(tmp_path, "left")
    named = [
        f"kubectl apply -f {left}",
        "kubectl wait scenario left --for=condition=SymptomsPresent --timeout=5m",
        "TRIAL=$(kubectl get trials -o jsonpath='{.items[0].metadata.name}')",
        "APP=$(kubectl get trial $TRIAL -o jsonpath='{.status.namespace}')",
    ]
    filled = [
        c.replace("NAMESPACE-OF-THE-APP", '"$APP"')
        .replace("NAME", '"$TRIAL"')
        .replace("scenario-kit lab status", f"scenario-kit lab status --name {lab.name}")
        for c in (*looked, *cleared)
    ]
    perform([*named, *filled, "kubectl delete scenario left stored"], tmp_path, **variables)
