"""The command ``new``: without a terminal by flags, with one by questions."""

import sys
from collections import Counter
from contextlib import suppress

import pytest
import yaml
from typer.testing import CliRunner

from scenario_kit.catalog import Catalog
from scenario_kit.cli import build, run
from scenario_kit.cli.authoring.questions import complete
from scenario_kit.errors import UsageError
from scenario_kit.lint import lint_file
from scenario_kit.render.simulation.changes import NoChange


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_new_with_flags_writes_a_valid_scenario(folder, capsys):
    code = run(
        ["new", "no-currency", "--app", "otel-demo", "--target", "currency", "--fault", "deployment-scaled-to-zero",
         "--author", "Ada"]
    )  # fmt: skip
    assert code == 0
    file = folder / "no-currency" / "scenario.yaml"
    assert "expects HighRequestErrorRate on Deployment/checkout" in capsys.readouterr().out
    assert file.read_text().startswith("# yaml-language-server: $schema=../.schema/scenario.schema.json\n")
    assert (folder / ".schema" / "scenario.schema.json").is_file()
    assert [f.code for f in lint_file(file)] == []


def test_new_overwrites_nothing(folder, capsys):
    arguments = ["new", "x", "--app", "otel-demo", "--target", "cart", "--fault", "pod-failure"]
    assert run(arguments) == 0
    before = (folder / "x" / "scenario.yaml").read_text()
    assert run(arguments) == 3
    assert "already exists" in capsys.readouterr().err
    assert (folder / "x" / "scenario.yaml").read_text() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--app", "otel-dmeo"], "did you mean"),
        (["--app", "shoe-shop"], "add the folder with its `catalog` to SCENARIO_KIT_CATALOG"),
        (["--app", "otel-demo", "--target", "HorizontalPodAutoscaler/cart"], "with its option `autoscaling: true`"),
        (["--app", "otel-demo"], "no target given; possible:"),
        (["--app", "otel-demo", "--target", "crat"], "cart"),
        (["--app", "otel-demo", "--target", "cart"], "no fault given; cart supports:"),
        (["--app", "otel-demo", "--target", "Service/otel-collector"], "no fault applies to Service/otel-collector"),
        (["--app", "otel-demo", "--target", "cart", "--fault", "pod-failur"], "pod-failure"),
        (["--app", "otel-demo", "--target", "cart", "--fault", "pod-failure", "--parameter", "x=1"],
         "has no parameter"),
        (["--app", "otel-demo", "--target", "cart", "--fault", "service-target-port-wrong", "--parameter", "port=9"],
         "one of: 8080"),
        (["--app", "otel-demo", "--target", "cart", "--fault", "service-target-port-wrong", "--parameter", "port"],
         "NAME=VALUE"),
        (["--app", "otel-demo", "--target", "flagd", "--fault", "feature-flag-changed"],
         "choose another target (valid targets: ConfigMap/flagd-config), or another fault: "),
        (["--app", "hotel-reservation", "--target", "search", "--fault", "configmap-field-wrong"],
         "(valid targets: ConfigMap/"),
        (["--app", "hotel-reservation", "--target", "geo", "--fault", "feature-flag-changed"],
         "(valid targets: none in hotel-reservation)"),
        (["Bad_Name", "--app", "otel-demo", "--target", "cart", "--fault", "pod-failure"], "cannot be the name"),
    ],
)  # fmt: skip
def test_invalid_answer_is_an_error_listing_valid_ones(folder, capsys, arguments, message):
    assert run(["new", *arguments]) == 3
    assert message in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_fault_may_fit_with_given_parameters_only(folder, capsys):
    arguments = ["new", "--app", "hotel-reservation", "--target", "geo", "--fault", "env-value-wrong", "--dry-run"]
    assert run(arguments) == 3
    assert "no variable of the target holds an address; name one" in capsys.readouterr().err
    assert run([*arguments, "--parameter", "name=TLS", "--parameter", "value=x"]) == 0
    assert "parameters: {name: TLS, value: x" in capsys.readouterr().out


def test_objects_of_options_required_by_a_fault_can_be_targets(folder, capsys):
    arguments = ["new", "--app", "otel-demo", "--fault", "hpa-target-too-low", "--target", "HorizontalPodAutoscaler/ad"]
    assert run([*arguments, "--dry-run"]) == 0
    assert "target: HorizontalPodAutoscaler/ad" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "fault", "pair", "message"),
    [
        ("Service/cart", "service-selector-captures-foreign-pods", "foreign=[Deployment/ad, Deployment/quote]", ""),
        ("Service/cart", "service-selector-captures-foreign-pods", "foreign=[Deployment/ad, Deployment/kafka]",
         "foreign cannot be 'Deployment/kafka'"),
        ("Service/frontend-proxy", "service-selector-captures-foreign-pods", "foreign=[Deployment/ad]",
         "only the load generator reaches its pods through this Service"),
    ],
)  # fmt: skip
def test_list_entries_are_validated_one_by_one(folder, capsys, target, fault, pair, message):
    arguments = ["new", "--app", "otel-demo", "--target", target, "--fault", fault, "--parameter", pair, "--dry-run"]
    assert run(arguments) == (3 if message else 0)
    streams = capsys.readouterr()
    assert message in streams.err
    assert message or "foreign: [Deployment/ad, Deployment/quote]" in streams.out


def test_preemption_requires_a_resource_request(folder, capsys):
    arguments = ["new", "--app", "hotel-reservation", "--fault", "priority-preemption", "--target", "geo", "--dry-run"]
    assert run([*arguments, "--parameter", "resource=memory"]) == 1
    assert "the target requests no memory" in capsys.readouterr().err
    assert run([*arguments, "--parameter", "resource=cpu"]) == 0


def test_dry_run_writes_nothing(folder, capsys):
    assert run(["new", "--app", "otel-demo", "--fault", "network-delay", "--dry-run"]) == 0
    assert "kind: Scenario" in capsys.readouterr().out
    assert list(folder.iterdir()) == []


class Terminal:
    """A stdin for CliRunner that claims to be a terminal."""

    def __init__(self, real):
        self.real = real

    def __getattr__(self, name):
        return getattr(self.real, name)

    def isatty(self):
        return True


@pytest.fixture
def answer_dialog(folder, monkeypatch):
    """Answers the questions of ``new``, one line each."""
    import scenario_kit.cli.authoring.new as module

    class System:
        @property
        def stdin(self):
            return Terminal(sys.stdin)

    monkeypatch.setattr(module, "sys", System())

    def ask(*answers, arguments=()):
        return CliRunner().invoke(build(), ["new", "--author", "Ada", *arguments], input="\n".join(answers) + "\n")

    return ask


def test_dialog_offers_applicable_faults_only(folder, answer_dialog):
    result = answer_dialog(
        "otel-demo", "2.2.0", "cart", "service-target-port-wrong", "targetPort=9001", "wrong-port", "", "", "", "n", "y"
    )
    assert result.exit_code == 0, result.output
    assert "targetPort: 9001" in (folder / "wrong-port" / "scenario.yaml").read_text()
    assert "port = 8080   one of: 8080" in result.output
    assert "Deployment/cart: not in the lab: requires real-data-plane" in result.output


def test_faults_are_grouped_by_family_with_alerts(folder, answer_dialog):
    output = answer_dialog("otel-demo", "2.2.0", "cart").output
    assert "  Workload spec\n" in output
    at = output.index("deployment-scaled-to-zero\n")
    assert "A workload has no replicas" in output[at : at + 200]
    assert "Deployment/cart: raises HighRequestErrorRate on " in output[at : at + 300]


def test_partial_answer_narrows_choice_and_invalid_answer_is_repeated(folder, answer_dialog):
    result = answer_dialog(
        "otel", "2.2", "valkey-c", "zzzz", "Deployment/valkey-cart delay", "latencyMilliseconds=999999", "latency=3000",
        "latencyMilliseconds=3000", "Bad Name", "slow-store", "nothing", "", "0", "20", "nope", "itbench", "n", "y",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    for refused in (
        "no choice contains 'zzzz'", "999999 is greater than the maximum of 60000", "has no parameter 'latency'",
        "'Bad Name' cannot be the name of a scenario", "unknown load profile 'nothing'",
        "'0' is not a valid number of users", "unknown alert pack 'nope'",
    ):  # fmt: skip
        assert refused in " ".join(result.output.split())
    assert "latencyMilliseconds = 2000   from 1 to 60000" in result.output
    file = folder / "slow-store" / "scenario.yaml"
    written = yaml.safe_load(file.read_text())["spec"]
    assert written["app"]["load"] == {"users": 20}
    assert written["app"]["alertPacks"] == ["itbench"]
    assert written["faults"][0]["parameters"]["latencyMilliseconds"] == 3000
    assert [f for f in lint_file(file) if f.severity == "Error"] == []


@pytest.mark.parametrize("answers", [(), ("otel-demo",), ("otel-demo", "2.2.0", "cart")])
def test_aborted_dialog_writes_nothing(folder, answer_dialog, answers):
    assert answer_dialog(*answers).exit_code != 0
    assert list(folder.iterdir()) == []


def test_several_faults_load_and_packs_by_flag(folder, capsys):
    arguments = [
        "new", "two-troubles", "--app", "otel-demo", "--version", "2.2.0", "--target", "cart", "--author", "Ada",
        "--fault", "deployment-scaled-to-zero", "--also", "deployment-scaled-to-zero@currency",
        "--also", "service-target-port-wrong@product-catalog,targetPort=9001", "--users", "30", "--profile", "steady",
        "--pack", "default",
    ]  # fmt: skip
    assert run(arguments) == 0
    file = folder / "two-troubles" / "scenario.yaml"
    spec = yaml.safe_load(file.read_text())["spec"]
    assert [(f["name"], f["target"]) for f in spec["faults"]] == [
        ("deployment-scaled-to", "Deployment/cart"),
        ("deployment-scaled-to-2", "Deployment/currency"),
        ("service-target-port", "Service/product-catalog"),
    ]
    assert spec["app"]["load"] == {"profile": "steady", "users": 30}
    assert {c["fault"] for c in spec["groundTruth"]["rootCauses"]} == {f["name"] for f in spec["faults"]}
    assert {fault for s in spec["solutions"] for fault in s["fixes"]} == {f["name"] for f in spec["faults"]}
    assert [f for f in lint_file(file) if f.severity == "Error"] == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--also", "network-dely@cart"], "did you mean `network-delay`"),
        (["--also", "network-delay@crat"], "unknown target 'crat'"),
        (["--also", "network-delay@cart,latency=1"], "has no parameter"),
        (["--users", "many"], "'many' is not a valid number of users"),
        (["--profile", "stedy"], "did you mean `steady`"),
        (["--pack", "defalt"], "did you mean `default`"),
    ],
)
def test_inapplicable_flag_is_an_error(folder, capsys, more, message):
    assert run(["new", "--app", "otel-demo", "--target", "cart", "--fault", "deployment-scaled-to-zero", *more]) == 3
    assert message in capsys.readouterr().err
    assert list(folder.iterdir()) == []


class Counting(Catalog):
    """A catalogue that counts lookups of each fault type."""

    def __init__(self):
        super().__init__()
        self.lookups = Counter()

    def fault(self, name):
        self.lookups[name] += 1
        return super().fault(name)


@pytest.mark.parametrize(
    ("parameters", "looked_through"),
    [(["port=8080"], False), (["port=9"], False), ([], False), (None, True)],
)
def test_other_faults_are_scanned_once_for_listing(parameters, looked_through):
    catalog = Counting()
    fault = "" if parameters is None else "service-target-port-wrong"
    target = "Service/cart" if parameters is None else "cart"
    given = {"app": "otel-demo", "version": "", "target": target, "fault": fault, "name": "", "outcome": ""}
    with suppress(UsageError):
        complete(given, parameters or [], "Ada", catalog, ask=False)
    others = set(catalog.lookups) - {fault}
    assert others == (set(catalog.faults()) - {fault} if looked_through else set())
    assert catalog.lookups["deployment-scaled-to-zero"] == looked_through, "it cannot be aimed at a Service"


@pytest.mark.parametrize(
    ("fault", "needs"),
    [("clock-skew", ["real-data-plane"]), ("pod-failure", []), ("network-partition", [])],
)
def test_draft_warns_about_missing_lab_capability(folder, capsys, fault, needs):
    assert run(["new", "x", "--app", "otel-demo", "--target", "cart", "--fault", fault, "--author", "Ada"]) == 0
    reported = capsys.readouterr()
    for need in needs:
        assert f"requires {need}, which the lab lacks" in reported.err
    assert ("warning:" in reported.err) == bool(needs)
    assert ("then scenario-kit try x" in reported.out) != bool(needs)


def test_fault_list_separates_unsupported_faults(folder, capsys):
    assert run(["new", "--app", "otel-demo", "--target", "cart"]) == 3
    here, beyond = capsys.readouterr().err.split("; not in the lab: ")
    assert "pod-failure" in here
    assert "clock-skew" not in here
    assert "clock-skew (requires real-data-plane)" in beyond
    assert "pod-failure" not in beyond


def test_printed_draft_lists_missing_capabilities(folder, capsys):
    assert run(["new", "--app", "otel-demo", "--target", "cart", "--fault", "clock-skew", "--dry-run"]) == 0
    reported = capsys.readouterr()
    assert "warning:" not in reported.out
    assert "requires real-data-plane" in reported.err


def test_ineffective_fault_error_has_a_fix(folder, capsys, monkeypatch):
    def stays(*_args):
        raise NoChange("patch", "Deployment/cart")

    monkeypatch.setattr("scenario_kit.changes.operations.chaos.Chaos.simulate", stays)
    assert run(["new", "--app", "otel-demo", "--target", "cart", "--fault", "cpu-stress", "--dry-run"]) == 3
    message = capsys.readouterr().err
    assert "limitMillicores 20" in message
    assert "--parameter NAME=VALUE (valid targets: none in otel-demo), or another fault:" in message
