"""``demo``: a narrated incident from end to end, using only what users can do by hand."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scenario_kit.cli.terminal.options import Lab
from scenario_kit.cli.terminal.output import fold_text, make_printable, show_title
from scenario_kit.cli.terminal.terminal import style_text
from scenario_kit.errors import AuthoringError, InfrastructureError

if TYPE_CHECKING:
    from scenario_kit.clients.kube import KubeCluster
    from scenario_kit.lab.host.state import LabState
    from scenario_kit.model import Object, Reference, Runbook

DEFAULT: Final = "product-catalog-wrong-target-port"
_ORDER: Final = ("AppReady", "BaselineQuiet", "FaultsInjected", "SymptomsPresent")
_STORY: Final = {
    "AppReady": "the app is deployed and ready",
    "BaselineQuiet": "no alert fired before the injection",
    "FaultsInjected": "the fault is injected, and its effect is measured",
    "SymptomsPresent": "every expected alert fires",
}
_DEADLINE: Final = 240.0
_ALERTS_SECONDS: Final = 5.0
#: Virtual seconds in which the incident must resolve after the fix.
_RESOLVE_SECONDS: Final = 3600
#: Virtual seconds by which the world is advanced between two polls of the status.
_ADVANCE_SECONDS: Final = 60.0


def demo(
    scenario: Annotated[str, typer.Argument(help="A scenario of the catalogue, or a file.")] = DEFAULT,
    name: Lab = "default",
) -> int:
    """Run one incident end to end: break an app, investigate it as a solver would, fix it, and see it resolve.

    Example: scenario-kit demo
    """
    return Demo(name, scenario).run()


class Demo:
    """One demonstration in a lab, in virtual time: an hour of incident takes seconds."""

    def __init__(self, lab: str, scenario: str) -> None:
        self._lab_name = lab
        self._scenario = scenario
        self._started = time.monotonic()

    def run(self) -> int:
        """Run the demonstration and return the exit code of its verdict."""
        from scenario_kit.catalog import Catalog
        from scenario_kit.clients.kube import KubeCluster
        from scenario_kit.judge.platform import find_platform_needs
        from scenario_kit.lab.lifecycle import bring_up
        from scenario_kit.load import find_scenario_files, load_scenario
        from scenario_kit.render import resolve

        file = self._find_file(Catalog().scenarios(), find_scenario_files)
        scenario = load_scenario(file).scenario
        app = Catalog().app(scenario.spec.app.name, scenario.spec.app.version)
        runbook = resolve(scenario, Catalog(), app.namespace, beside=file.parent)
        chaos = find_platform_needs(runbook, ()).chaos
        controllers = "real controllers and Chaos Mesh" if chaos else "real controllers"
        show_title(f"1. The lab: a real API server, {controllers}, simulated nodes ({self._lab_name})")
        lab = bring_up(self._lab_name, engine=chaos, say=self._show_note)
        cluster = KubeCluster(kubeconfig=Path(lab.kubeconfig))
        show_title(f"2. The incident: {scenario.spec.title}")
        self._show_note(f"kubectl apply -f {_shorten_path(file)}")
        self._apply(cluster, file)
        try:
            trial = self._await_symptoms(cluster, scenario.name)
            show_title(f'3. The page that a solver gets: "{scenario.spec.brief.strip()}"')
            self._show(lab, cluster, runbook, trial)
            show_title(f"4. The fix, with the solver's own rights: {self._fix(lab, runbook)}")
            resolved = self._await_resolution(lab, cluster, scenario.name, trial)
        finally:
            show_title("6. kubectl delete: everything is undone, the app is removed")
            self._delete(cluster, scenario.name)
        return self._show_verdict(file, resolved)

    def _find_file(self, known: Any, files: Callable[[list[Path]], list[Path]]) -> Path:
        path = Path(self._scenario)
        by_name = {Path(p).parent.name: Path(p) for p in known}
        found: Path = by_name[self._scenario] if self._scenario in by_name and not path.exists() else files([path])[0]
        return found

    def _apply(self, cluster: KubeCluster, file: Path) -> None:
        from scenario_kit.load.yaml.document import read_document

        cluster.apply(_prepare_scenario(read_document(file).data))

    def _await_symptoms(self, cluster: KubeCluster, name: str) -> str:
        shown: set[str] = set()
        deadline = time.monotonic() + _DEADLINE
        while True:
            status = self._read_status(cluster, name)
            conditions = {c["type"]: c for c in status.get("conditions") or []}
            refused = conditions.get("Accepted", {})
            if refused.get("status") == "False":
                raise AuthoringError(
                    f"the scenario is not accepted ({refused['reason']}): {refused.get('message', '')}"
                )
            for type in _ORDER:
                condition = conditions.get(type, {})
                if condition.get("status") == "True" and type not in shown:
                    shown.add(type)
                    self._show_note(f"{type}: {_STORY[type]}")
                elif condition.get("status") == "False":
                    raise AuthoringError(f"{type} is False ({condition['reason']}): {condition.get('message', '')}")
                elif condition.get("reason") == "InfrastructureFailed":
                    raise InfrastructureError(f"{type} is Unknown: {condition.get('message', '')}")
            if "SymptomsPresent" in shown:
                return str(status["trial"])
            if time.monotonic() > deadline:
                ready = conditions.get("Ready", {})
                raise InfrastructureError(
                    f"no symptoms after {_DEADLINE:.0f} s; the scenario is in state {ready.get('reason')}"
                )
            time.sleep(0.25)

    def _read_status(self, cluster: KubeCluster, name: str) -> Object:
        obj = cluster.get(_make_reference("Scenario", name))
        return (obj or {}).get("status") or {}

    def _show(self, lab: LabState, cluster: KubeCluster, runbook: Runbook, trial: str) -> None:
        firing = self._await_firing(cluster, trial)
        for alert in firing:
            self._show_note(f"firing: {alert['name']} on {alert.get('entity') or 'the app'}")
        show_title("   What a solver might try (KUBECONFIG=" + lab.solver_kubeconfig + "):")
        suspects = [a["entity"] for a in firing if a.get("entity", "").startswith("Deployment/")]
        suspect = suspects[0].lower() if suspects else f"deployment/{runbook.app.entry}"
        self._run_kubectl(lab, ["get", "pods", "-n", runbook.namespace], 5)
        self._run_kubectl(lab, ["logs", suspect, "-n", runbook.namespace, "--tail=4"], 4)
        self._run_kubectl(lab, ["get", "endpointslices", "-n", runbook.namespace], 5)

    def _await_firing(self, cluster: KubeCluster, trial: str) -> list[Object]:
        """Return the firing alerts, waiting until the trial's status shows them."""
        deadline = time.monotonic() + _ALERTS_SECONDS
        while True:
            status = (cluster.get(_make_reference("Trial", trial)) or {}).get("status") or {}
            firing = [a for a in status.get("alerts") or [] if a["state"] == "Firing"]
            if firing or time.monotonic() > deadline:
                return firing
            time.sleep(0.25)

    def _run_kubectl(self, lab: LabState, arguments: list[str], lines: int) -> None:
        from scenario_kit.lab import toolchain

        self._show_note("$ kubectl " + " ".join(arguments))
        done = subprocess.run(
            [str(toolchain.resolve("kubectl")), "--kubeconfig", lab.solver_kubeconfig, *arguments],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        for line in (done.stdout or done.stderr).splitlines()[:lines]:
            typer.echo(f"       {line[:150]}")

    def _fix(self, lab: LabState, runbook: Runbook) -> str:
        from scenario_kit.changes import ChangeContext
        from scenario_kit.changes.operation import send
        from scenario_kit.clients.kube import KubeCluster

        procedure = next(p for p in runbook.procedures if p.use == "Solution")
        solver = KubeCluster(kubeconfig=Path(lab.solver_kubeconfig), field_manager="kubectl-edit")
        context = ChangeContext(
            cluster=solver,
            namespace=runbook.namespace,
            app=runbook.app,
            now=time.time,
            others=runbook.namespaces,
            declared=runbook.reach,
        )
        for change in procedure.solution.changes:
            send(context, change)
        return procedure.solution.description or procedure.name

    def _await_resolution(self, lab: LabState, cluster: KubeCluster, name: str, trial: str) -> bool:
        from scenario_kit.lab.clock import WorldClock

        show_title("5. Time passes until the alerts have cleared, stay clear, and the app serves its load again")
        clock = WorldClock(lab.server_url, lab.server_token, trial)
        began = clock.now()
        deadline = time.monotonic() + _DEADLINE
        missing = ""
        while time.monotonic() < deadline:
            conditions = {c["type"]: c for c in self._read_status(cluster, name).get("conditions") or []}
            resolved = conditions.get("Resolved", {})
            if resolved.get("status") == "True":
                self._show_note(f"Resolved {(clock.now() - began) / 60:.0f} virtual minutes after the fix")
                return True
            missing = resolved.get("message", "")  # what is still missing
            if clock.now() - began < _RESOLVE_SECONDS:
                clock.wait(clock.now() + _ADVANCE_SECONDS)
            time.sleep(1.0)
        self._show_note(f"not resolved: {missing}")
        return False

    def _delete(self, cluster: KubeCluster, name: str) -> None:
        ref = _make_reference("Scenario", name)
        cluster.delete(ref)
        deadline = time.monotonic() + _DEADLINE
        while cluster.get(ref) is not None:
            if time.monotonic() > deadline:
                raise InfrastructureError("the scenario is still being removed", fix="kubectl describe trials")
            time.sleep(0.25)

    def _show_verdict(self, file: Path, resolved: bool) -> int:
        word, colour = ("PASS", typer.colors.GREEN) if resolved else ("FAIL", typer.colors.RED)
        seconds = time.monotonic() - self._started
        text = (
            "the incident occurred as declared, and the documented fix resolved it"
            if resolved
            else "the documented fix did not resolve it"
        )
        typer.echo(style_text(f"{word} ", fg=colour, bold=True) + f"{text} ({seconds:.0f} s)")
        named = f" --name {self._lab_name}" if self._lab_name != "default" else ""
        typer.echo(f"  next: scenario-kit verify {_shorten_path(file.parent)}{named}")
        return 0 if resolved else 1

    def _show_note(self, text: str) -> None:
        typer.echo(fold_text(make_printable(text), "     "))


def _shorten_path(path: Path) -> str:
    """Return a path relative to the working directory, if it is below."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _prepare_scenario(document: Object) -> Object:
    """Set the management namespace and virtual time on a scenario."""
    annotations = {**(document["metadata"].get("annotations") or {}), "scenariokit.io/clock": "Virtual"}
    metadata = {**document["metadata"], "namespace": "scenario-kit", "annotations": annotations}
    return {**document, "metadata": metadata}


def _make_reference(kind: str, name: str) -> Reference:
    from scenario_kit.model import Reference
    from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE

    return Reference(kind, name, MANAGEMENT_NAMESPACE, GROUP)
