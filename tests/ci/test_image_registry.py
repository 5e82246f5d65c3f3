"""Digests of images, from registries that a mocked transport plays. It was not tried against a real one."""

import hashlib
import importlib.machinery
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.image_lock import read_locks, write
from scenario_kit.errors import AuthoringError, InfrastructureError
from scenario_kit.model.kubernetes.image import matches_image
from scenario_kit.render import render_app
from tools.image_registry import ACCEPT, ImagePlace, ImageRegistries, place

ROOT = Path(__file__).parents[2]
Handler = Callable[[httpx.Request], httpx.Response]


def digest_of(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def registries(handler: Handler, **hosts: str) -> ImageRegistries:
    return ImageRegistries(hosts, client=httpx.Client(transport=httpx.MockTransport(handler), follow_redirects=True))


def everything(request: httpx.Request) -> httpx.Response:
    """A registry that has every image."""
    return httpx.Response(200, headers={"Docker-Content-Digest": digest_of(request.url.path)})


def offline(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("name or service not known", request=request)


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("busybox:1.37.0", ImagePlace("docker.io", "library/busybox", "1.37.0")),
        ("valkey/valkey:9", ImagePlace("docker.io", "valkey/valkey", "9")),
        ("localhost:5000/a/b:c", ImagePlace("localhost:5000", "a/b", "c")),
        ("registry.example/a", ImagePlace("registry.example", "a", "latest")),
    ],
)
def test_parts_of_a_reference(image: str, expected: ImagePlace) -> None:
    assert place(image) == expected


def test_reference_with_digest_is_refused() -> None:
    with pytest.raises(AuthoringError, match="without a digest"):
        place(f"a:1@{digest_of('x')}")


def test_index_digest_is_read_from_header() -> None:
    seen = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append((request.method, str(request.url), request.headers["Accept"]))
        return everything(request)

    assert registries(handler).digest("registry.example/a/b:1") == digest_of("/v2/a/b/manifests/1")
    assert seen == [("HEAD", "https://registry.example/v2/a/b/manifests/1", ACCEPT)]
    assert ACCEPT.split(", ")[0] == "application/vnd.oci.image.index.v1+json"


def test_token_is_requested_once_per_repository() -> None:
    seen = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(f"{request.method} {request.url.host}{request.url.path}")
        if request.url.host == "auth.example":
            assert dict(request.url.params) == {"service": "here", "scope": "repository:a/b:pull"}
            return httpx.Response(200, json={"token": "secret"})
        if request.headers.get("Authorization") != "Bearer secret":
            challenge = 'Bearer realm="https://auth.example/token",service="here",scope="repository:a/b:pull"'
            return httpx.Response(401, headers={"WWW-Authenticate": challenge})
        return everything(request)

    clients = registries(handler)
    assert clients.digest("registry.example/a/b:1") == digest_of("/v2/a/b/manifests/1")
    assert clients.digest("registry.example/a/b:2") == digest_of("/v2/a/b/manifests/2")
    assert seen == [
        "HEAD registry.example/v2/a/b/manifests/1",
        "GET auth.example/token",
        "HEAD registry.example/v2/a/b/manifests/1",
        "HEAD registry.example/v2/a/b/manifests/2",
    ]


def test_without_the_header_the_manifest_is_hashed() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=b"manifest" if request.method == "GET" else b"")

    assert registries(handler).digest("registry.example/a:1") == digest_of("manifest")


def test_registry_host_can_be_overridden() -> None:
    found = []
    clients = registries(lambda r: found.append(r.url.host) or everything(r), **{"docker.io": "mirror.example"})
    clients.digest("busybox:1")
    assert found == ["mirror.example"]


def answers(status: int, **headers: str) -> Handler:
    return lambda _: httpx.Response(status, headers={k.replace("_", "-"): v for k, v in headers.items()})


@pytest.mark.parametrize(
    ("handler", "error", "part"),
    [
        (offline, InfrastructureError, "registry registry.example cannot be reached"),
        (answers(404), AuthoringError, "404"),
        (answers(403), AuthoringError, "403"),
        (answers(401), AuthoringError, "401"),
        (answers(500), InfrastructureError, "500"),
        (answers(200, Docker_Content_Digest="md5:7"), InfrastructureError, "md5:7"),
        (answers(401, WWW_Authenticate='Bearer realm="http://auth.example"'), InfrastructureError, "not https"),
        (answers(401, WWW_Authenticate='Bearer realm="https://auth.example"'), InfrastructureError, "token"),
    ],
)
def test_digest_errors(handler: Handler, error: type[Exception], part: str) -> None:
    with pytest.raises(error, match=part):
        registries(handler).digest("registry.example/a:1")


@pytest.fixture(scope="module")
def command() -> Any:
    loader = importlib.machinery.SourceFileLoader("ci_lock", str(ROOT / "ci" / "lock"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ci_lock", loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A collection with two apps, one of which names one image by digest already."""
    for name, images in (("one", ["a.example/x:1", "busybox:2"]), ("two", [f"b.example/y:3@{digest_of('y')}"])):
        folder = tmp_path / "catalog" / "apps" / name
        folder.mkdir(parents=True)
        definition = {"name": name, "title": name, "namespace": name, "entry": "web", "images": images, "twin": "none"}
        version = {"1": {"components": [{"name": "web", "workload": "Deployment/web"}]}}
        (folder / "app.yaml").write_text(yaml.safe_dump({**definition, "versions": version}))
    return tmp_path


def files(root: Path) -> dict[str, str]:
    return {p.name + p.parent.name: p.read_text() for p in root.rglob("*") if p.is_file()}


def test_locking_is_idempotent_for_every_app(command: Any, root: Path, capsys: Any) -> None:
    assert command.main([], root, registries(everything)) == 0
    one = root / "catalog" / "apps" / "one" / "app.yaml"
    assert read_locks(one) == {
        "a.example/x:1": digest_of("/v2/x/manifests/1"),
        "busybox:2": digest_of("/v2/library/busybox/manifests/2"),
    }
    before = files(root)
    assert command.main(["--check"], root, registries(everything)) == 0
    assert command.main([], root, registries(everything)) == 0
    assert files(root) == before
    assert "up to date" in capsys.readouterr().out


def test_lock_is_only_written_if_complete(command: Any, root: Path, capsys: Any) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return everything(request) if request.url.host == "a.example" else offline(request)

    before = files(root)
    assert command.main([], root, registries(handler)) == 2
    assert files(root) == before
    reported = capsys.readouterr().err
    assert "docker.io cannot be reached" in reported
    assert "--host docker.io=HOST" in reported


def test_moved_tag_is_reported(command: Any, root: Path) -> None:
    assert command.main(["one"], root, registries(everything)) == 0
    before = files(root)
    moved = registries(lambda r: httpx.Response(200, headers={"Docker-Content-Digest": digest_of("other")}))
    assert command.main(["one", "--check"], root, moved) == 1
    assert files(root) == before


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["nowhere"], 3), (["--host", "docker.io"], 3), (["--unknown"], 3), (["--help"], 0), ([], 1)],
)
def test_exit_codes(command: Any, root: Path, capsys: Any, arguments: list[str], code: int) -> None:
    given = registries(answers(404)) if not arguments or arguments == ["nowhere"] else None
    assert command.main(arguments, root, given) == code
    capsys.readouterr()


def test_corrupt_lock_is_refused(root: Path) -> None:
    definition = root / "catalog" / "apps" / "one" / "app.yaml"
    definition.with_name("images.lock.yaml").write_text("images: {busybox:2: latest}\n")
    with pytest.raises(AuthoringError, match="expected images"):
        Catalog([root]).app("one", "1")


@pytest.mark.parametrize(("name", "version"), [("otel-demo", "3.0.0"), ("hotel-reservation", "6ecb097")])
def test_rendered_objects_name_locked_digests(tmp_path: Path, name: str, version: str) -> None:
    source = ROOT / "catalog" / "apps" / name
    folder = tmp_path / "catalog" / "apps" / name
    folder.mkdir(parents=True)
    for file in source.glob("*.yaml"):
        (folder / file.name).write_text(file.read_text())
    (tmp_path / "templates").symlink_to(ROOT / "templates")
    plain = Catalog([tmp_path]).app(name, version)
    tags = [image for image in plain.images if "@" not in image]
    assert write(folder / "app.yaml", {image: digest_of(image) for image in tags})
    assert not write(folder / "app.yaml", {image: digest_of(image) for image in reversed(tags)})
    app = Catalog([tmp_path]).app(name, version)
    for obj in render_app(app, {}, 50, "shop"):
        pod = obj.get("spec", {}).get("template", {}).get("spec", {})
        for container in [*pod.get("containers", []), *pod.get("initContainers", [])]:
            tag, at, digest = container["image"].partition("@")
            assert at
            assert container["image"] in app.images, "the simulated registry has it"
            assert digest == digest_of(tag) or tag not in tags


@pytest.mark.parametrize(
    ("image", "pattern", "expected"),
    [
        (f"ghcr.io/a/demo:1-cart@{digest_of('x')}", "*/demo:*-cart", True),
        ("ghcr.io/a/demo:1-cart", "*/demo:*-cart", True),
        ("registry.k8s.io/pause@sha256:1", "*/pause@*", True),
        (f"ghcr.io/a/demo:1-ad@{digest_of('x')}", "*/demo:*-cart", False),
        ("redis:7", "redis:*", True),
        ("redis:7", "*/redis:*", True),
        ("docker.io/library/redis:7", "redis:*", True),
        ("docker.io/bitnami/redis:7", "bitnami/redis:*", True),
        ("docker.io/bitnami/redis:7", "redis:*", False),
        ("quay.io/redis:7", "redis:*", False),
    ],
)
def test_twin_matches_image_with_digest(image: str, pattern: str, expected: bool) -> None:
    assert matches_image(image, pattern) is expected
