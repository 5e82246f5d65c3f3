"""Why pods of an app do not become ready."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.trial.unready_pods import explain_unready_pods, suggest_fix

UNBOUND = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."


def pod(name: str = "web-0", *, conditions: dict[str, str] | None = None, message: str = "", **status: Any) -> dict:
    listed = [{"type": k, "status": v, "message": message} for k, v in (conditions or {}).items()]
    return {"kind": "Pod", "metadata": {"name": name}, "status": {"conditions": listed, **status}}


def container(name: str = "main", **fields: Any) -> dict:
    return {"name": name, "ready": False, **fields}


def waiting(reason: str, message: str = "") -> dict:
    return {"state": {"waiting": {"reason": reason, "message": message}}}


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        ([], ""),
        ([{"kind": "Pod", "metadata": {"name": "new"}}], ""),
        ([pod(conditions={"Ready": "True"})], ""),
        ([pod(conditions={"PodScheduled": "False"}, message=UNBOUND)], f"Pod/web-0: cannot be scheduled: {UNBOUND}"),
        (
            [pod(f"web-{i}", conditions={"PodScheduled": "False"}, message=UNBOUND) for i in (1, 0)],
            f"Pod/web-0: cannot be scheduled: {UNBOUND}",
        ),
        (
            [pod(containerStatuses=[container(**waiting("ImagePullBackOff", "Back-off\n pulling"))])],
            "Pod/web-0: container 'main': ImagePullBackOff: Back-off pulling",
        ),
        (
            [
                pod(
                    containerStatuses=[
                        container(**waiting("CrashLoopBackOff"), lastState={"terminated": {"exitCode": 3}})
                    ]
                )
            ],
            "Pod/web-0: container 'main': CrashLoopBackOff; it ended with code 3",
        ),
        ([pod(containerStatuses=[container(**waiting("ContainerCreating"))])], ""),
        (
            [
                {
                    **pod(containerStatuses=[container(ready=True, state={"running": {}})]),
                    "status": {
                        "conditions": [
                            {
                                "type": "Ready",
                                "status": "False",
                                "reason": "ReadinessGatesNotReady",
                                "message": 'corresponding condition of pod readiness gate "a/b" does not exist.',
                            }
                        ]
                    },
                }
            ],
            'Pod/web-0: is not ready: corresponding condition of pod readiness gate "a/b" does not exist.',
        ),
        (
            [
                {
                    **pod(
                        conditions={"Ready": "False"},
                        initContainerStatuses=[container("proxy", state={"running": {}}, started=False)],
                        containerStatuses=[container(**waiting("PodInitializing"))],
                    ),
                    "spec": {"initContainers": [{"name": "proxy", "restartPolicy": "Always"}]},
                }
            ],
            "Pod/web-0: container 'proxy' runs, but is not ready: see its startupProbe",
        ),
        (
            [
                pod(
                    conditions={"Ready": "False"},
                    initContainerStatuses=[container("wait", state={"running": {}})],
                    containerStatuses=[container(**waiting("PodInitializing"))],
                )
            ],
            "Pod/web-0: init container 'wait' has not ended",
        ),
        (
            [
                pod(
                    conditions={"Ready": "False"},
                    containerStatuses=[container(state={"running": {}}), container("side", ready=True)],
                )
            ],
            "Pod/web-0: container 'main' runs, but is not ready: see its readinessProbe",
        ),
        (
            [pod(f"p{i}", containerStatuses=[container(f"c{i}", **waiting("ErrImagePull"))]) for i in range(6)],
            "; ".join([*(f"Pod/p{i}: container 'c{i}': ErrImagePull" for i in range(4)), "and 2 more"]),
        ),
    ],
)
def test_reasons_are_those_of_the_status(pods: list[dict], expected: str) -> None:
    assert explain_unready_pods(pods) == expected


@pytest.mark.parametrize(("why", "words"), [(UNBOUND, "x-requires: {Claim: [dynamic-storage]}"), ("ErrImagePull", "")])
def test_volumes_that_nothing_provides_have_a_fix(why: str, words: str) -> None:
    assert words in suggest_fix(why)
    assert bool(suggest_fix(why)) is bool(words)
