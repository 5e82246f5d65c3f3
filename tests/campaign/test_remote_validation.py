"""A Validation seen from outside, on a fake cluster with a hand-made operator."""

import pytest

from scenario_kit.campaign import MANAGEMENT_NAMESPACE, Polling
from scenario_kit.campaign.remote_validation import (
    REPORT_KEY,
    RemoteValidation,
    ValidationListener,
    build_validation,
    choose_beginning,
    derive_validation_name,
    read_progress,
)
from scenario_kit.errors import AlreadyExists, InfrastructureError, Unreachable, UsageError
from scenario_kit.model import Reference
from scenario_kit.model.results.trial import PURPOSE_LABEL, VALIDATION_LABEL
from scenario_kit.testing import FakeCluster

GROUP = "scenariokit.io"
SPEC = {"embedded": {"name": "s", "spec": {"title": "t"}}, "plan": "Quick", "seed": 1, "maxMinutes": 60}


def condition(type, status, reason, message=""):
    return {"type": type, "status": status, "reason": reason, "message": message}


ACCEPTED = condition("Accepted", "True", "Valid")
RUNNING = {"conditions": [ACCEPTED, condition("Ready", "False", "TrialsRunning", "0 of 2 trials have ended")]}
PASSED = {
    "conditions": [ACCEPTED, condition("Ready", "True", "Concluded")], "verdict": "Pass", "report": "r",
}  # fmt: skip


class World:
    """An API server, its time, and what happens at each pause."""

    def __init__(self, *events, patience=180.0, keep=False):
        self.cluster = FakeCluster()
        self.cluster.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MANAGEMENT_NAMESPACE}})
        self.events, self.now = list(events), 0.0
        polling = Polling(self.pause, lambda: self.now, patience)
        self.remote = RemoteValidation(self.cluster, build_validation("s", SPEC, keep=keep), polling)

    def pause(self, seconds):
        self.now += seconds
        if self.events:
            self.events.pop(0)(self)

    def show(self, status):
        patch = [{"op": "add", "path": "/status", "value": status}]
        self.cluster.patch(self.remote.reference, patch, "Json", subresource="status")

    def run(self, limit=3600.0, listener=None):
        listener = listener or ValidationListener()
        self.remote.begin(listener)
        return self.remote.follow((), limit, listener)


def show(status):
    return lambda world: world.show(status)


def test_validation_name_depends_on_spec():
    name = derive_validation_name("s", SPEC)
    assert name == derive_validation_name("s", dict(reversed(SPEC.items())) | {"maxMinutes": 5, "parallelism": 7})
    assert name != derive_validation_name("s", SPEC | {"seed": 2})
    assert name != derive_validation_name("s", SPEC | {"plan": "Try"})
    assert len(derive_validation_name("a" * 52, SPEC)) <= 52


def test_remote_validation_is_created_watched_and_read():
    world = World(show(RUNNING), show(PASSED))
    progress = world.run()
    assert (progress.verdict, progress.report) == ("Pass", "r")
    stored = world.remote.find()
    assert stored["spec"] == SPEC
    metadata = {"name": "r", "namespace": MANAGEMENT_NAMESPACE}
    world.cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {REPORT_KEY: "{}"}})
    assert world.remote.read_report(progress) == "{}"


def test_running_validation_is_resumed():
    world = World(show(RUNNING), show(PASSED))
    world.cluster.create(world.remote.desired)
    uid = world.remote.find()["metadata"]["uid"]
    world.run()
    assert world.remote.find()["metadata"]["uid"] == uid


def test_concurrent_clients_share_one_validation():
    world = World(show(RUNNING), show(PASSED))

    def lose(verb, what):
        if verb == "create" and "Validation" in what:
            world.cluster.before = lambda verb, what: None
            world.cluster.create(world.remote.desired)
            raise AlreadyExists("it exists", status=409)

    world.cluster.before = lose
    assert world.run().verdict == "Pass"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (None, "Create"),
        ({"metadata": {}, "status": {}}, "TakeUp"),
        ({"metadata": {}, "status": PASSED}, "TakeUp"),
        ({"metadata": {"labels": {f"{GROUP}/kept": "true"}}, "status": RUNNING}, "TakeUp"),
        ({"metadata": {"labels": {f"{GROUP}/kept": "true"}}, "status": PASSED}, "Replace"),
        ({"metadata": {"deletionTimestamp": "now"}, "status": PASSED}, "Wait"),
    ],
)
def test_existing_validation_decides_the_first_action(found, expected):
    assert choose_beginning(found) == expected


def test_kept_validation_is_replaced():
    world = World(keep=True)
    world.cluster.create(world.remote.desired)
    world.show(PASSED)
    uid = world.remote.find()["metadata"]["uid"]
    assert world.remote.begin(ValidationListener())["metadata"]["uid"] != uid


def test_undeletable_validation_ends_the_wait():
    world = World()
    desired = dict(world.remote.desired)
    desired["metadata"] = desired["metadata"] | {"finalizers": ["scenariokit.io/undo"]}
    world.cluster.create(desired)
    world.remote.remove()
    with pytest.raises(InfrastructureError, match="is not gone after 900 s"):
        world.remote.begin(ValidationListener())


def test_without_an_operator_the_wait_ends():
    with pytest.raises(InfrastructureError, match="no operator has looked at the Validation"):
        World().run()


def test_refusal_includes_its_reason():
    refused = {"conditions": [condition("Accepted", "False", "InvalidPlan", "it cannot pass")]}
    with pytest.raises(UsageError, match="InvalidPlan: it cannot pass"):
        World(show(refused)).run()


def test_time_limit_ends_the_wait():
    with pytest.raises(InfrastructureError, match="has no verdict after 10 min"):
        World(show(RUNNING)).run(limit=600)


def test_validation_deleted_while_waiting_is_an_error():
    with pytest.raises(InfrastructureError, match="was deleted"):
        World(show(RUNNING), lambda world: world.remote.remove()).run()


def test_brief_api_server_restart_has_no_effect():
    world = World(show(RUNNING))

    def fail(verb, what):
        if 10 < world.now < 100:
            raise Unreachable("no answer")
        if world.now >= 100 and verb == "get":
            world.cluster.before = lambda verb, what: None
            world.show(PASSED)

    world.cluster.before = fail
    messages = []
    listener = ValidationListener()
    listener.show_waiting = messages.append
    assert world.run(listener=listener).verdict == "Pass"
    assert messages == ["no answer", ""]


def test_unreachable_api_server_ends_the_wait():
    world = World(show(RUNNING))

    def fail(verb, what):
        if world.now > 10:
            raise Unreachable("no answer")

    world.cluster.before = fail
    with pytest.raises(Unreachable):
        world.run()


def test_listener_gets_trial_changes():
    trial = {
        "apiVersion": f"{GROUP}/v1alpha1", "kind": "Trial",
        "spec": {
            "scenario": "s", "digest": "d", "plan": "quick", "namespace": "n", "resolved": "",
            "steps": [{"kind": "deploy"}],
        },
    }  # fmt: skip

    def begin(world):
        labels = {VALIDATION_LABEL: world.remote.name, PURPOSE_LABEL: "repeat-1"}
        metadata = {"name": "t", "namespace": MANAGEMENT_NAMESPACE, "labels": labels}
        world.cluster.create(trial | {"metadata": metadata})
        world.show(RUNNING)

    def end(world):
        patch = [{"op": "add", "path": "/status", "value": {"outcome": "Held"}}]
        world.cluster.patch(Reference("Trial", "t", MANAGEMENT_NAMESPACE, GROUP), patch, "Json", subresource="status")

    seen = []
    listener = ValidationListener()
    listener.show_trial = lambda planned, name, status: seen.append((planned.purpose, name, status.outcome))
    World(begin, end, lambda world: None, show(PASSED)).run(listener=listener)
    assert seen == [("repeat-1", "t", "Held")]


def test_missing_report_error_has_a_fix():
    world = World(show(PASSED))
    with pytest.raises(InfrastructureError, match="its report is gone") as raised:
        world.remote.read_report(world.run())
    assert "delete validation" in raised.value.fix


def test_waiting_reason_is_read_from_conditions():
    occupied = {"conditions": [ACCEPTED, condition("Ready", "False", "Occupied", "others are there")]}
    assert read_progress({"status": occupied}).waiting == "others are there"
    assert read_progress({"status": RUNNING}).waiting == ""
    assert not read_progress({}).seen
