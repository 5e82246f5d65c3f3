"""Decisions of runtime and kernel before a program runs, and shell idioms."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from scenario_kit.lab.kubelet.container import files
from scenario_kit.lab.kubelet.image import images, shell_idioms
from scenario_kit.lab.kubelet.image.images import ImageCache
from scenario_kit.model.runtime.process import InitState

ARM = {"metadata": {"labels": {"kubernetes.io/arch": "arm64"}}}
AMD = {"status": {"nodeInfo": {"architecture": "amd64"}}}


@pytest.mark.parametrize(
    ("image", "node", "foreign"),
    [
        ("docker.io/arm64v8/busybox:1.37.0", AMD, True),
        ("arm64v8/busybox:1.37.0", AMD, True),
        ("arm64v8/busybox:1.37.0", ARM, False),
        ("amd64/postgres:17.6", ARM, True),
        ("arm64v8/busybox:1.37.0", {}, False),
        ("busybox:1.37.0", ARM, False),
        ("ghcr.io/arm64v8/busybox:1.37.0", AMD, False),
    ],
)
def test_single_architecture_images_are_foreign_elsewhere(image: str, node: Any, foreign: bool) -> None:
    assert images.is_foreign(image, node) is foreign


@pytest.mark.parametrize(
    ("image", "whole"),
    [("arm64v8/postgres:17.6", "docker.io/library/postgres:17.6"), ("demo/cart:1", "demo/cart:1")],
)
def test_multi_arch_image_is_found(image: str, whole: str) -> None:
    assert images.find_multi_arch_image(image) == whole


def test_image_cache_learns_programs_from_runs() -> None:
    cache = ImageCache()
    known = cache.of("app")
    assert not known.lacks("shop:1", "/bin/cart")
    cache.learn("app", "shop:1", "")
    cache.learn("app", "shop:1", "cart")
    assert [known.lacks("shop:1", p) for p in ("", "cart", "/bin/sh", "quote")] == [False, False, False, True]
    assert not known.lacks("shop:2", "quote")
    assert not cache.of("other").lacks("shop:1", "quote")
    cache.forget("app")
    assert not known.lacks("shop:1", "quote")


@pytest.mark.parametrize(
    ("command", "content", "state"),
    [
        ("grep -q '^}' /etc/a.json", "{\n}\n", InitState("Succeeded")),
        ("grep -q '^}' /etc/a.json", "{\n", InitState("Failed", 1)),
        ("grep -q '^}' /etc/a.json || { echo 'cut off'; exit 3; }", "{", InitState("Failed", 3, ("cut off",))),
        ("grep -q '^}' /etc/a.json || echo 'cut off'", "{", InitState("Succeeded", 0, ("cut off",))),
        ("grep -q '^}' /etc/a.json", None, InitState("Failed", 1, ("grep: /etc/a.json: No such file or directory",))),
        ("grep -q '(' /etc/a.json", "(", None),
        ("until [ -f /run/ready ]; do sleep 5; done", None, InitState("Running")),
        ("while ! test -s /run/ready; do sleep 5; done", "x", InitState("Succeeded")),
        ("until nc -z cart 8080; do sleep 2; done", None, None),
    ],
)
def test_checks_of_files(command: str, content: str | None, state: InitState | None) -> None:
    assert shell_idioms.evaluate_script(["sh", "-c", command], lambda _path: content) == state


@pytest.mark.parametrize(
    ("command", "capacity", "full"),
    [
        ("dd if=/dev/zero of=/dev/shm/a bs=1M count=128", shell_idioms.SHARED_MEMORY, True),
        ("dd if=/dev/zero of=/dev/shm/a bs=1M count=64 && tail -f /dev/null", shell_idioms.SHARED_MEMORY, False),
        ("dd if=/dev/zero of=/dev/shm/a bs=1M count=128", 2**30, False),
        ("dd if=/dev/zero of=/dev/shm/a", shell_idioms.SHARED_MEMORY, True),
        ("dd if=/dev/zero of=/tmp/a bs=1M count=128", shell_idioms.SHARED_MEMORY, False),
    ],
)
def test_shared_memory(command: str, capacity: float, full: bool) -> None:
    message = shell_idioms.format_overflow(["sh", "-c", command], lambda _path: capacity)
    assert message == ("dd: error writing '/dev/shm/a': No space left on device" if full else "")


class Found(dict[tuple[str, str], Any]):
    def find(self, kind: str, name: str) -> Any:
        return self.get((kind, name))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/etc/a/one.json", "1"),
        ("/etc/a/deep/two", "2"),
        ("/etc/single", "1"),
        ("/etc/a/key", None),
        ("/etc/b/password", "secret"),
        ("/etc/scratch/x", None),
        ("/nowhere", None),
    ],
)
def test_mounted_files(path: str, text: str | None) -> None:
    objects = Found({
        ("ConfigMap", "settings"): {"data": {"one.json": "1", "key": "2"}},
        ("Secret", "login"): {"data": {"password": base64.b64encode(b"secret").decode()}},
    })  # fmt: skip
    volumes = [
        {"name": "a", "configMap": {"name": "settings"}},
        {"name": "deep", "configMap": {"name": "settings", "items": [{"key": "key", "path": "two"}]}},
        {"name": "b", "secret": {"secretName": "login"}},
        {"name": "scratch", "emptyDir": {}},
    ]
    mounts = [
        {"name": "a", "mountPath": "/etc/a"},
        {"name": "deep", "mountPath": "/etc/a/deep/"},
        {"name": "a", "mountPath": "/etc/single", "subPath": "one.json"},
        {"name": "b", "mountPath": "/etc/b"},
        {"name": "scratch", "mountPath": "/etc/scratch"},
    ]
    objects[("ConfigMap", "settings")]["data"].pop("key") if path == "/etc/a/key" else None
    assert files.read_file({"spec": {"volumes": volumes}}, {"volumeMounts": mounts}, path, objects) == text


class TestContainers:
    def test_tiny_memory_fails_in_the_runtime(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(resources={"limits": {"memory": "5Mi"}}))
        b.to(0)
        assert b.waiting() == "RunContainerError"
        b.to(2)
        assert b.container()["lastState"]["terminated"]["reason"] == "StartError"
        assert "memory limit too low" in b.container()["lastState"]["terminated"]["message"]
        assert b.processes.start_calls == []

    def test_foreign_image_cannot_be_executed(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(image="arm64v8/busybox:1.37.0"), nodeSelector={"kubernetes.io/arch": "amd64"})
        b.node = AMD
        b.to(0)
        b.to(30)
        assert b.container()["restartCount"] >= 1
        assert b.container()["lastState"]["terminated"]["exitCode"] == 255
        assert "exec format error" in b.output[1].text

    def test_missing_program_is_a_start_error(self, bench: Any, make_container: Any) -> None:
        b = bench(make_container(command=["/bin/quote"]))
        b.images.learn("app", b.pod["spec"]["containers"][0]["image"], "")
        b.to(0)
        assert b.waiting() == "RunContainerError"
        assert "/bin/quote: no such file or directory" in b.container()["state"]["waiting"]["message"]

    def test_second_container_on_a_port_ends(self, bench: Any, make_container: Any) -> None:
        ports = [{"containerPort": 8080}]
        b = bench(make_container("status", ports=ports), make_container("main", ports=ports))
        b.to(0)
        b.to(60)
        assert "running" in b.container("status")["state"]
        assert b.container("status")["restartCount"] == 0
        assert b.container("main")["restartCount"] >= 2
        assert any("address already in use" in getattr(line, "text", "") for line in b.output)
        assert b.condition("Ready")["status"] == "False"

    @pytest.mark.parametrize(("size", "restarts"), [(None, True), ("256Mi", False)])
    def test_shared_memory_is_a_volume_or_small(
        self, bench: Any, make_container: Any, size: str | None, restarts: bool
    ) -> None:
        command = ["sh", "-c", "dd if=/dev/zero of=/dev/shm/buffer bs=1M count=128 && exec tail -f /dev/null"]
        mounts = [{"name": "shm", "mountPath": "/dev/shm"}] if size else []
        volumes = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": size}}] if size else []
        b = bench(make_container(command=command, volumeMounts=mounts), volumes=volumes)
        b.to(0)
        b.to(60)
        assert bool(b.container()["restartCount"]) is restarts

    def test_init_container_reads_current_config_map(self, bench: Any, make_container: Any) -> None:
        check = make_container(
            "check",
            command=["sh", "-c", "grep -q '^}' /etc/s/a.json"],
            volumeMounts=[{"name": "s", "mountPath": "/etc/s"}],
        )
        b = bench(inits=(check,), volumes=[{"name": "s", "configMap": {"name": "settings"}}])
        b.objects[("ConfigMap", "settings")] = {"data": {"a.json": "{\n"}}
        b.to(0)
        b.to(60)
        assert b.container("check")["restartCount"] >= 2
        assert b.waiting() == "PodInitializing"
        b.objects[("ConfigMap", "settings")] = {"data": {"a.json": "{\n}\n"}}
        b.to(400)
        assert b.pod["status"]["phase"] == "Running"
