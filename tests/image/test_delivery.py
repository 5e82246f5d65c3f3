"""Loading and pushing of images: chosen programs, their arguments, and errors without one."""

from pathlib import Path

import pytest

from scenario_kit.errors import ToolchainError, UsageError
from tools.image.delivery import LOADERS, PUSHERS, check_reference, choose_tool, run_commands

FILE = Path("/x/image.tar")
NAME = "docker.io/library/scenario-kit:1"


def test_kind_cluster_gets_the_archive():
    tool = choose_tool(LOADERS["kind"], "--load kind", {"kind"}.__contains__)
    assert tool.build(FILE, NAME, "demo") == [["kind", "load", "image-archive", "/x/image.tar", "--name", "demo"]]


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ({"skopeo", "docker"}, [["skopeo", "copy", "oci-archive:/x/image.tar", "docker://r.org/a:1"]]),
        (
            {"docker"},
            [
                ["docker", "load", "--input", "/x/image.tar"],
                ["docker", "tag", NAME, "r.org/a:1"],
                ["docker", "push", "r.org/a:1"],
            ],
        ),
    ],
)
def test_digest_preserving_tool_is_preferred(there, expected):
    tool = choose_tool(PUSHERS, "--push", there.__contains__)
    assert tool.build(FILE, NAME, "r.org/a:1") == expected


@pytest.mark.parametrize("kind", sorted(LOADERS))
def test_missing_tool_error_names_a_tool(kind):
    with pytest.raises(ToolchainError) as caught:
        choose_tool(LOADERS[kind], f"--load {kind}", lambda _: None)
    assert LOADERS[kind][0].program in caught.value.message
    assert LOADERS[kind][0].home in caught.value.fix


@pytest.mark.parametrize("name", ["r.example.org/team/x:1", "localhost/x:1", "127.0.0.1:5000/x:1"])
def test_full_name_can_be_pushed(name):
    assert check_reference(name) == name


@pytest.mark.parametrize(
    "name", ["x:1", "team/x:1", "r.example.org/x", "r.example.org/", "r.example.org/x@sha256:0", ""]
)
def test_invalid_reference_is_refused(name):
    with pytest.raises(UsageError, match="REGISTRY/REPOSITORY:TAG"):
        check_reference(name)


def test_failed_command_stops_delivery():
    messages = []
    with pytest.raises(ToolchainError, match="false exited with code 1"):
        run_commands([["true"], ["false"], ["true"]], messages.append)
    assert messages == ["$ true", "$ false"]
