"""Official releases are taken only over TLS and only with the published checksum."""

import hashlib
import io
import tarfile
from pathlib import Path

import httpx
import pytest

from scenario_kit.lab.toolchain.components import Release, ToolchainComponent, get_part
from scenario_kit.lab.toolchain.release import Releases, Unavailable, find_published_sum

BINARY = b"\x7fELF program"
PLAIN = ToolchainComponent(
    name="tool",
    version="1.0",
    module="none",
    package="none",
    release=Release(url="https://release.example/tool", sums="https://release.example/tool.sha256"),
)


def archive(member: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        info = tarfile.TarInfo(member)
        info.size = len(BINARY)
        tar.addfile(info, io.BytesIO(BINARY))
    return buffer.getvalue()


def build_releases(answers: dict[str, httpx.Response]) -> Releases:
    return Releases(httpx.MockTransport(lambda request: answers[str(request.url)]))


def quiet(done: int, total: int, note: str) -> None:
    pass


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A" * 64, "a" * 64),
        (f"{'b' * 64}  other\n{'a' * 64}  tool\n", "a" * 64),
        (f"{'a' * 64} *tool", "a" * 64),
    ],
)
def test_sums_are_found_by_name(text: str, expected: str) -> None:
    assert find_published_sum(text, "tool") == expected


@pytest.mark.parametrize("text", ["", "not a sum", f"{'b' * 64}  other"])
def test_missing_checksum_makes_release_unavailable(text: str) -> None:
    with pytest.raises(Unavailable, match="no entry for tool"):
        find_published_sum(text, "tool")


def test_verified_binary_is_returned(tmp_path: Path) -> None:
    total = hashlib.sha256(BINARY).hexdigest()
    releases = build_releases(
        {PLAIN.release.url: httpx.Response(200, content=BINARY), PLAIN.release.sums: httpx.Response(200, text=total)}
    )
    assert releases.fetch(PLAIN, tmp_path, quiet).read_bytes() == BINARY


def test_member_of_an_archive_is_returned(tmp_path: Path) -> None:
    packed = archive("folder/tool")
    release = Release(url="https://release.example/a.tar.gz", sums="https://release.example/s", member="folder/tool")
    desired = ToolchainComponent(name="tool", version="1.0", module="", package="", release=release)
    sums = f"{hashlib.sha256(packed).hexdigest()}  a.tar.gz"
    releases = build_releases(
        {release.url: httpx.Response(200, content=packed), release.sums: httpx.Response(200, text=sums)}
    )
    assert releases.fetch(desired, tmp_path, quiet).read_bytes() == BINARY


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"sums": httpx.Response(200, text="0" * 64), "url": httpx.Response(200, content=BINARY)}, "has the checksum"),
        ({"sums": httpx.Response(404)}, "answered 404"),
        (
            {"sums": httpx.Response(302, headers={"location": "http://plain.example/s"}), "plain": "0" * 64},
            "not served over TLS",
        ),
    ],
)
def test_unverifiable_release_is_refused(tmp_path: Path, answers: dict, reason: str) -> None:
    table = {
        PLAIN.release.sums: answers["sums"],
        PLAIN.release.url: answers.get("url"),
        "http://plain.example/s": httpx.Response(200, text=answers.get("plain", "")),
    }
    with pytest.raises(Unavailable, match=reason):
        build_releases(table).fetch(PLAIN, tmp_path, quiet)


def test_unreachable_host_is_contacted_once(tmp_path: Path) -> None:
    requests: list[str] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        requests.append(str(request.url))
        raise httpx.ConnectError("no route")

    releases = Releases(httpx.MockTransport(refuse))
    for _ in range(3):
        with pytest.raises(Unavailable, match=r"release\.example cannot be reached"):
            releases.fetch(PLAIN, tmp_path, quiet)
    assert requests == [PLAIN.release.sums]
    assert releases.known_problem(PLAIN)


@pytest.mark.parametrize("name", ["kwok", "chaos-controller-manager"])
def test_parts_without_published_sums_are_never_downloaded(name: str, tmp_path: Path) -> None:
    def forbidden(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request.url)

    with pytest.raises(Unavailable, match="no official binary"):
        Releases(httpx.MockTransport(forbidden)).fetch(get_part(name), tmp_path, quiet)
