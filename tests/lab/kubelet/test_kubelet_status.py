from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from scenario_kit.lab.kubelet import START_ERROR
from scenario_kit.lab.kubelet.status import SyncInputs, compute_pod_status
from scenario_kit.model.runtime.process import Exit, InitState, ProcessStart

T0 = 1_767_225_600.0


def crash(after: float, code: int = 1, reason: str = "Error") -> Any:
    return lambda _now: ProcessStart(after, Exit("u-1", "main", code, reason))


class TestStart:
    def test_cached_image_starts_immediately(self, bench: Any) -> None:
        b = bench()
        status = b.to(0)
        assert status["phase"] == "Running"
        assert (status["podIP"], status["hostIP"]) == ("10.244.0.7", "10.0.0.5")
        assert (status["podIPs"], status["hostIPs"]) == ([{"ip": "10.244.0.7"}], [{"ip": "10.0.0.5"}])
        assert status["startTime"] == "2026-01-01T00:00:00Z"
        assert status["qosClass"] == "BestEffort"
        assert status["observedGeneration"] == 1
        main = b.container()
        assert main["state"] == {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
        assert (main["ready"], main["started"], main["restartCount"]) == (True, True, 0)
        assert re.fullmatch(r"containerd://[0-9a-f]{64}", main["containerID"])
        assert re.fullmatch(r"ghcr\.io/demo/app@sha256:[0-9a-f]{64}", main["imageID"])
        assert [c["type"] for c in status["conditions"]] == [
            "PodReadyToStartContainers",
            "Initialized",
            "Ready",
            "ContainersReady",
            "PodScheduled",
        ]
        assert all(c["status"] == "True" for c in status["conditions"])
        assert b.reasons() == ["Pulled", "Created", "Started"]
        assert b.last.next_wakeup is None

    def test_absent_image_is_pulled_first(self, bench: Any) -> None:
        b = bench(cached=False)
        b.to(0)
        assert b.waiting() == "ContainerCreating"
        assert b.pod["status"]["phase"] == "Pending"
        assert T0 < b.last.next_wakeup < T0 + 2
        b.to(2)
        assert b.pod["status"]["phase"] == "Running"
        assert b.reasons() == ["Pulling", "Pulled", "Created", "Started"]
        assert "Successfully pulled image" in b.events[1].message

    def test_repeated_sync_is_idempotent(self, bench: Any) -> None:
        b = bench()
        first = b.to(0)
        events = list(b.events)
        assert b.to(600) == first
        assert b.events == events

    def test_kubelet_restart_changes_nothing(self, bench: Any) -> None:
        b = bench()
        first = b.to(0)
        b.restart_kubelet()
        assert b.to(60) == first

    def test_arguments_are_not_changed(self, bench: Any) -> None:
        b = bench()
        b.processes.starts["main"] = crash(3)
        b.to(0)
        before = repr((b.pod, b.memory))
        compute_pod_status(b.pod, SyncInputs({}, b.objects, b.processes, b.images.of("app")), T0 + 60, memory=b.memory)
        assert repr((b.pod, b.memory)) == before

    def test_unscheduled_pod_is_ignored(self, bench: Any) -> None:
        b = bench()
        made = compute_pod_status(b.pod, SyncInputs(None, b.objects, b.processes, b.images.of("app")), T0)
        assert made.status == b.pod["status"]
        assert made.events == ()


class TestImages:
    def test_missing_image_alternates_and_backs_off(self, bench: Any) -> None:
        b = bench(cached=False)
        b.processes.absent.add("ghcr.io/demo/app:1.0")
        b.to(0)
        reason = (
            'rpc error: code = NotFound desc = failed to pull and unpack image "ghcr.io/demo/app:1.0": '
            'failed to resolve reference "ghcr.io/demo/app:1.0": ghcr.io/demo/app:1.0: not found'
        )
        assert b.container()["state"]["waiting"] == {"reason": "ErrImagePull", "message": reason}
        assert b.pod["status"]["phase"] == "Pending"
        seen = [b.waiting()]
        for second in range(1, 89):
            b.to(second)
            if b.waiting() != seen[-1]:
                seen.append(b.waiting())
        # Pulled at 0, 13, 38 and 87 s: when the pod is looked at and its back-off is over.
        assert seen == ["ErrImagePull", "ImagePullBackOff"] * 4
        assert b.reasons().count("Pulling") == 4
        assert b.container()["state"]["waiting"]["message"] == (
            f'Back-off pulling image "ghcr.io/demo/app:1.0": ErrImagePull: {reason}'
        )
        assert {(e.type, e.reason) for e in b.events} == {
            ("Normal", "Pulling"),
            ("Warning", "Failed"),
            ("Normal", "BackOff"),
        }

    def test_result_is_independent_of_query_count(self, bench: Any) -> None:
        often, seldom = bench(cached=False), bench(cached=False)
        for b in (often, seldom):
            b.processes.absent.add("ghcr.io/demo/app:1.0")
        for second in range(301):
            often.to(second)
        for second in (0, 15, 240, 300):
            seldom.to(second)
        assert often.pod == seldom.pod
        assert often.events == seldom.events

    def test_corrected_image_is_pulled_immediately(self, bench: Any, make_container: Any) -> None:
        b = bench(cached=False)
        b.processes.absent.add("ghcr.io/demo/app:1.0")
        b.to(0)
        b.to(200)
        b.pod["spec"]["containers"] = [make_container(image="ghcr.io/demo/app:1.1")]
        b.to(201)
        b.to(203)
        assert b.pod["status"]["phase"] == "Running"

    @pytest.mark.parametrize(
        ("image", "policy", "reason"),
        [
            ("ghcr.io/demo/app:1.0", "Never", "ErrImageNeverPull"),
            ("UPPER//case", "IfNotPresent", "InvalidImageName"),
            ("a:b:c", "IfNotPresent", "InvalidImageName"),
        ],
    )
    def test_image_pull_policy_decides_waiting_reason(
        self, bench: Any, make_container: Any, image: str, policy: str, reason: str
    ) -> None:
        b = bench(make_container(image=image, imagePullPolicy=policy), cached=False)
        b.to(0)
        assert b.waiting() == reason


class TestCrashes:
    def test_restart_back_off_doubles_up_to_five_minutes(self, bench: Any) -> None:
        b = bench()
        b.processes.starts["main"] = crash(1)
        b.to(0)
        for second in range(1, 1900):
            b.to(second)
        starts = [at - T0 for _, at in b.processes.start_calls]
        # One second of life each; the first restart does not wait, the others are made when the pod is looked at.
        assert starts == [0, 1, 15, 40, 89, 174, 343, 644, 945, 1246, 1547, 1848]

    def test_image_pull_back_off_continues_if_another_pod_pulled_the_image(self, bench: Any) -> None:
        b = bench(cached=False)
        b.processes.starts["main"] = crash(1)
        b.to(0)
        assert b.reasons() == ["Pulling"]
        b.images.add("app", b.pod["spec"]["containers"][0]["image"], T0)
        for second in range(1, 200):
            b.to(second)
        starts = [at - T0 for _, at in b.processes.start_calls]
        assert [later - sooner > 10 for sooner, later in pairwise(starts)] == [False, True, True, True, True]

    def test_crash_looping_pod_has_conditions_and_events(self, bench: Any) -> None:
        b = bench()
        b.processes.starts["main"] = crash(1, code=2)
        b.to(0)
        b.to(5)
        assert b.container()["state"]["terminated"]["exitCode"] == 2  # what one look finds, the next one tells
        b.to(14)
        main = b.container()
        assert main["restartCount"] == 1
        assert main["state"]["waiting"] == {
            "reason": "CrashLoopBackOff",
            "message": "back-off 10s restarting failed container=main pod=app-1_app(u-1)",
        }
        assert main["lastState"]["terminated"] == {
            "exitCode": 2,
            "reason": "Error",
            "startedAt": "2026-01-01T00:00:01Z",
            "finishedAt": "2026-01-01T00:00:02Z",
            "containerID": main["containerID"],
        }
        assert b.pod["status"]["phase"] == "Running"
        assert b.condition("Ready")["reason"] == "ContainersNotReady"
        assert b.condition("Ready")["message"] == "containers with unready status: [main]"
        assert b.events[-1].message == "Back-off restarting failed container main in pod app-1_app(u-1)"

    def test_ten_minutes_of_running_reset_the_back_off(self, bench: Any) -> None:
        b = bench()
        lives = iter([1, 1, 1, 700, 1])
        b.processes.starts["main"] = lambda now: crash(next(lives, 10_000))(now)
        b.to(0)
        b.to(2000)
        assert [at - T0 for _, at in b.processes.start_calls] == [0, 1, 15, 40, 740, 754]

    @pytest.mark.parametrize(("code", "reason"), [(137, "OOMKilled"), (1, "Error"), (0, "Completed"), (139, "Error")])
    def test_exit_codes(self, bench: Any, code: int, reason: str) -> None:
        b = bench()
        b.processes.starts["main"] = crash(1, code, reason)
        b.to(0)
        b.to(14)
        ended = b.container()["lastState"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (code, reason)
        assert b.waiting() == "CrashLoopBackOff"

    def test_missing_command(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(command=["/no/such"]))
        b.processes.starts["main"] = lambda _: ProcessStart(0.0, Exit("u-1", "main", 128, START_ERROR))
        b.to(0)
        main = b.container()
        assert main["state"]["waiting"]["reason"] == "RunContainerError"
        assert (
            'exec: "/no/such": stat /no/such: no such file or directory: unknown' in main["state"]["waiting"]["message"]
        )
        ended = main["lastState"]["terminated"]
        assert (ended["exitCode"], ended["reason"], ended["startedAt"]) == (128, "StartError", "1970-01-01T00:00:00Z")
        assert b.pod["status"]["phase"] == "Running"
        b.to(5)
        assert b.waiting() == "CrashLoopBackOff"
        assert b.container()["restartCount"] == 1
        assert "Started" not in b.reasons()

    def test_termination_message_follows_policy(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(terminationMessagePolicy="FallbackToLogsOnError"))
        b.processes.starts["main"] = lambda _: ProcessStart(1.0, Exit("u-1", "main", 1, "Error", "panic: no address"))
        b.to(0)
        b.to(5)
        assert b.container()["lastState"]["terminated"]["message"] == "panic: no address"

    def test_restarted_kubelet_continues_back_off(self, bench: Any) -> None:
        b = bench()
        b.processes.starts["main"] = crash(1)
        b.to(0)
        b.to(53)
        message = b.container()["state"]["waiting"]["message"]
        b.restart_kubelet()
        b.to(54)
        assert b.container()["state"]["waiting"]["message"] == message
        assert message.startswith("back-off 40s ")


class TestConfiguration:
    @pytest.mark.parametrize(
        ("source", "have", "message"),
        [
            ({"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}]}, None,
             'configmap "c" not found'),
            ({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "c", "key": "k"}}}]}, None,
             'secret "c" not found'),
            ({"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}]},
             ("ConfigMap", {"data": {"other": "1"}}), "couldn't find key k in ConfigMap app/c"),
            ({"envFrom": [{"secretRef": {"name": "c"}}]}, None, 'secret "c" not found'),
        ],
    )  # fmt: skip
    def test_missing_environment(self, bench: Any, make_container: Any, source: Any, have: Any, message: str) -> None:
        b = bench(make_container(**source))
        if have:
            b.objects[(have[0], "c")] = have[1]
        b.to(0)
        assert b.container()["state"]["waiting"] == {"reason": "CreateContainerConfigError", "message": message}
        assert b.events[-1].message == f"Error: {message}"
        assert b.pod["status"]["phase"] == "Pending"
        for kind in ("ConfigMap", "Secret"):
            b.objects[(kind, "c")] = {"data": {"k": "v"}}
        b.to(15)
        assert b.pod["status"]["phase"] == "Running"
        assert b.container()["restartCount"] == 0

    def test_missing_optional_sources_do_not_block_start(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(envFrom=[{"configMapRef": {"name": "c", "optional": True}}]))
        assert b.to(0)["phase"] == "Running"

    @pytest.mark.parametrize(
        ("volume", "have", "message"),
        [
            ({"configMap": {"name": "c"}}, {}, 'MountVolume.SetUp failed for volume "v" : configmap "c" not found'),
            ({"secret": {"secretName": "c"}}, {}, 'MountVolume.SetUp failed for volume "v" : secret "c" not found'),
            (
                {"configMap": {"name": "c", "items": [{"key": "k", "path": "k"}]}},
                {("ConfigMap", "c"): {"data": {}}},
                'MountVolume.SetUp failed for volume "v" : configmap references non-existent config key: k',
            ),
        ],
    )
    def test_missing_volumes(self, bench: Any, volume: Any, have: Any, message: str) -> None:
        b = bench(volumes=[{"name": "v", **volume}])
        b.objects.update(have)
        b.to(0)
        b.to(60)
        assert b.waiting() == "ContainerCreating"
        assert b.condition("PodReadyToStartContainers")["status"] == "False"
        assert "podIP" not in b.pod["status"]
        # At 0, then after 0.5, 1, 2, 4, 8, 16 s.
        assert [(e.at - T0, e.reason, e.message) for e in b.events] == [
            (t, "FailedMount", message) for t in (0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5)
        ]
        b.objects[("ConfigMap", "c")] = b.objects[("Secret", "c")] = {"data": {"k": "v"}}
        b.to(64)
        assert b.pod["status"]["phase"] == "Running"

    def test_missing_claim(self, bench: Any) -> None:
        b = bench(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
        b.to(0)
        assert 'persistentvolumeclaims "data" not found' in b.events[0].message

    def test_injected_api_access_never_blocks_start(self, bench: Any) -> None:
        sources = [{"serviceAccountToken": {"path": "token"}}, {"configMap": {"name": "kube-root-ca.crt"}}]
        assert bench(volumes=[{"name": "v", "projected": {"sources": sources}}]).to(0)["phase"] == "Running"


class TestInitContainers:
    def test_init_containers_run_in_order(self, bench: Any, make_container: Any) -> None:
        b = bench(inits=(make_container("one"), make_container("two")))
        b.processes.inits["one"] = lambda now: InitState("Running" if now < T0 + 5 else "Succeeded", 0, ("waiting",))
        b.to(0)
        assert b.pod["status"]["phase"] == "Pending"
        assert "running" in b.container("one")["state"]
        assert b.waiting("two") == b.waiting() == "PodInitializing"
        assert b.condition("Initialized")["message"] == "containers with incomplete status: [one two]"
        b.to(15)
        assert b.pod["status"]["phase"] == "Running"
        assert [e["name"] for e in b.pod["status"]["initContainerStatuses"]] == ["one", "two"]
        assert b.container("one")["state"]["terminated"]["finishedAt"] == "2026-01-01T00:00:06Z"
        assert b.container("one")["ready"] is True
        assert b.condition("Initialized")["status"] == "True"
        assert b.last.next_wakeup is None

    def test_failing_init_container_keeps_pod_pending(self, bench: Any, make_container: Any) -> None:
        b = bench(inits=(make_container("one"),))
        b.processes.inits["one"] = lambda _: InitState("Failed", 3)
        b.to(0)
        b.to(12)
        assert b.waiting("one") == "CrashLoopBackOff"
        assert b.container("one")["lastState"]["terminated"]["exitCode"] == 3
        assert b.waiting() == "PodInitializing"
        assert b.pod["status"]["phase"] == "Pending"
        b.to(13)
        assert b.container("one")["restartCount"] == 2

    def test_restart_policy_never_fails_the_pod(self, bench: Any, make_container: Any) -> None:
        b = bench(inits=(make_container("one"),), restartPolicy="Never")
        b.processes.inits["one"] = lambda _: InitState("Failed", 3)
        assert b.to(0)["phase"] == "Failed"
        assert b.container("one")["state"]["terminated"]["exitCode"] == 3

    def test_init_containers_do_not_rerun_on_container_restart(self, bench: Any, make_container: Any) -> None:
        b = bench(inits=(make_container("one"),))
        b.processes.starts["main"] = crash(5)
        b.to(0)
        b.processes.inits["one"] = lambda _: InitState("Failed", 1)
        b.to(60)
        assert b.container("one")["restartCount"] == 0
        assert b.container()["restartCount"] > 1

    def test_sidecar_does_not_keep_a_job_running(self, bench: Any, make_container: Any) -> None:
        b = bench(inits=(make_container("side", restartPolicy="Always"),), restartPolicy="Never")
        b.processes.starts["main"] = crash(5, 0, "Completed")
        assert b.to(0)["phase"] == "Running"
        assert "running" in b.container("side")["state"]
        assert b.to(6)["phase"] == "Succeeded"
        assert "terminated" in b.container("side")["state"]


class TestRestartPolicy:
    @pytest.mark.parametrize(
        ("policy", "code", "phase", "restarts"),
        [
            ("Never", 0, "Succeeded", 0),
            ("Never", 1, "Failed", 0),
            ("OnFailure", 0, "Succeeded", 0),
            ("OnFailure", 1, "Running", 1),
            ("Always", 0, "Running", 1),
        ],
    )
    def test_phase_after_the_end(self, bench: Any, policy: str, code: int, phase: str, restarts: int) -> None:
        b = bench(restartPolicy=policy)
        b.processes.starts["main"] = crash(2, code, "")
        b.to(0)
        b.to(6)
        assert b.pod["status"]["phase"] == phase
        assert b.container()["restartCount"] == restarts

    @pytest.mark.parametrize(("code", "reason"), [(0, "PodCompleted"), (1, "PodFailed")])
    def test_conditions_of_a_finished_pod(self, bench: Any, code: int, reason: str) -> None:
        b = bench(restartPolicy="Never")
        b.processes.starts["main"] = crash(2, code, "")
        b.to(0)
        b.to(6)
        assert (b.condition("Ready")["status"], b.condition("Ready")["reason"]) == ("False", reason)
        assert b.condition("PodReadyToStartContainers")["status"] == "False"
        assert b.last.next_wakeup is None


class TestImageChange:
    PAUSE = "gcr.io/google-containers/pause:latest"

    def test_image_change_and_rollback_restart_the_container(self, bench: Any, make_container: Any) -> None:
        b = bench()
        b.images.add("app", self.PAUSE, T0)
        b.to(0)
        first = b.container()["containerID"]
        b.pod["spec"]["containers"] = [make_container(image=self.PAUSE)]
        b.to(30)
        main = b.container()
        assert main["restartCount"] == 1
        assert main["image"] == self.PAUSE
        assert main["containerID"] != first
        assert main["lastState"]["terminated"]["containerID"] == first
        assert main["lastState"]["terminated"]["exitCode"] == 143
        assert main["ready"] is True
        assert ("Killing", "Container main definition changed, will be restarted") in [
            (e.reason, e.message) for e in b.events
        ]
        b.pod["spec"]["containers"] = [make_container()]
        b.to(60)
        assert b.container()["restartCount"] == 2
        assert b.container()["image"] == "ghcr.io/demo/app:1.0"
        assert b.container()["lastState"]["terminated"]["exitCode"] == 0
        assert b.container()["state"] == {"running": {"startedAt": "2026-01-01T00:01:00Z"}}

    def test_pause_image_answers_no_probe(self, bench: Any, make_container: Any) -> None:
        probe = {"tcpSocket": {"port": 80}, "periodSeconds": 5, "failureThreshold": 1}
        b = bench(make_container(readinessProbe=probe))
        b.processes.absent.add(self.PAUSE)
        b.to(0)
        assert b.container()["ready"] is True
        b.pod["spec"]["containers"] = [make_container(image=self.PAUSE, readinessProbe=probe)]
        b.to(10)
        assert "running" not in b.container()["state"]  # it is pulled first
        b.to(12)
        assert "running" in b.container()["state"]
        assert b.container()["ready"] is False
        assert len(b.processes.start_calls) == 2  # whoever simulates processes hears of it

    def test_pause_image_cannot_run_another_command(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(image=self.PAUSE, command=["/app"]))
        b.to(0)
        assert b.container()["lastState"]["terminated"]["reason"] == "StartError"

    def test_pause_as_init_container_never_completes(self, bench: Any, make_container: Any) -> None:
        b = bench(inits=(make_container("one", image=self.PAUSE),))
        b.to(0)
        assert b.to(600)["phase"] == "Pending"
        assert "running" in b.container("one")["state"]

    def test_short_and_full_image_names_are_equal(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(image="busybox"))
        b.to(0)
        assert b.container()["image"] == "docker.io/library/busybox:latest"
        b.to(30)
        assert b.container()["restartCount"] == 0

    def test_image_change_restarts_when_observed(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(readinessProbe={"tcpSocket": {"port": 80}, "periodSeconds": 10}))
        b.images.add("app", self.PAUSE, T0)
        b.to(0)
        b.pod["spec"]["containers"] = [make_container(image=self.PAUSE)]
        b.to(15)
        assert b.container()["state"]["running"]["startedAt"] == "2026-01-01T00:00:15Z"


class TestDeletion:
    def test_deleted_pod_stops_its_containers(self, bench: Any) -> None:
        b = bench()
        b.to(0)
        b.pod["metadata"].update(deletionTimestamp="2026-01-01T00:01:00Z", deletionGracePeriodSeconds=30)
        status = b.to(30)
        assert b.last.gone
        assert status["phase"] == "Failed"
        assert b.container()["state"]["terminated"]["exitCode"] == 143
        assert b.events[-1].message == "Stopping container main"
        assert b.container()["restartCount"] == 0

    def test_pre_stop_sleep_is_waited_for(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(lifecycle={"preStop": {"sleep": {"seconds": 5}}}))
        b.to(0)
        b.pod["metadata"].update(deletionTimestamp="2026-01-01T00:01:00Z", deletionGracePeriodSeconds=30)
        b.to(30)
        assert not b.last.gone
        assert b.last.next_wakeup == T0 + 35
        b.to(35)
        assert b.last.gone

    def test_deleted_pod_that_never_started_is_removed(self, bench: Any) -> None:
        b = bench(volumes=[{"name": "v", "configMap": {"name": "c"}}])
        b.to(0)
        b.pod["metadata"].update(deletionTimestamp="2026-01-01T00:01:00Z", deletionGracePeriodSeconds=30)
        assert b.to(30)["phase"] == "Failed"
        assert b.last.gone

    def test_completed_pod_keeps_its_phase(self, bench: Any) -> None:
        b = bench(restartPolicy="Never")
        b.processes.starts["main"] = crash(1, 0, "")
        b.to(0)
        b.to(2)
        b.pod["metadata"].update(deletionTimestamp="2026-01-01T00:01:00Z", deletionGracePeriodSeconds=30)
        assert b.to(30)["phase"] == "Succeeded"
        assert b.last.gone


def test_foreign_conditions_stay_and_gates_count(bench: Any) -> None:
    b = bench(readinessGates=[{"conditionType": "x/ok"}])
    b.to(0)
    assert b.condition("Ready")["reason"] == "ReadinessGatesNotReady"
    b.pod["status"]["conditions"].append({"type": "x/ok", "status": "True"})
    b.to(5)
    assert b.condition("Ready")["status"] == "True"
    assert b.condition("Ready")["lastTransitionTime"] == "2026-01-01T00:00:05Z"
    assert b.condition("x/ok") == {"type": "x/ok", "status": "True"}


def test_statuses_are_sorted_by_name_and_carry_resources(bench: Any, make_container: Any) -> None:
    resources = {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": {"cpu": "100m", "memory": "1Gi"}}
    b = bench(make_container("zeta", resources=resources), make_container("alpha", resources=resources))
    status = b.to(0)
    assert [e["name"] for e in status["containerStatuses"]] == ["alpha", "zeta"]
    assert b.container("zeta")["resources"] == resources
    assert b.container("zeta")["allocatedResources"] == resources["requests"]
    assert status["qosClass"] == "Guaranteed"
