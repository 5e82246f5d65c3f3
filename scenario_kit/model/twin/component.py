"""Components: which image implements them, what they need to start, what they serve and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from scenario_kit.model.base import Value
from scenario_kit.model.twin.address import AddressSource, Protocol, Registration
from scenario_kit.model.twin.fields import EXIT_CODE, MIB, MILLICORES, MILLISECONDS, PORT, SECONDS, SHARE, describe
from scenario_kit.model.twin.java import JavaModel
from scenario_kit.model.twin.operation import Operation
from scenario_kit.model.twin.queue import Consumer
from scenario_kit.model.twin.store import Database, DiskModel, Login

#: The language of a program, or the program itself where it has words of its own.
Dialect = Literal[
    "cpp", "dotnet", "envoy", "erlang", "go", "java", "node", "php", "python", "ruby", "rust", "swift"
]  # fmt: skip
#: The C library of an image.
Libc = Literal["glibc", "musl"]
#: What resolves the names that a program uses: that library, or the program itself.
Resolver = Literal["envoy", "glibc", "go", "musl"]
#: Other words for languages.
_DIALECT_SYNONYMS: Final[Mapping[str, str]] = {
    "c": "cpp", "c++": "cpp", "c#": "dotnet", "csharp": "dotnet", "f#": "dotnet", ".net": "dotnet", "elixir": "erlang",
    "golang": "go", "javascript": "node", "js": "node", "kotlin": "java", "nodejs": "node", "scala": "java",
    "ts": "node", "typescript": "node",
}  # fmt: skip


class Port(Value, frozen=True, kw_only=True):
    """A port on which a process listens: taken from a variable or the configuration file, else fixed."""

    env: Annotated[str, describe("The variable that holds its number.")] = ""
    key: Annotated[str, describe("The key of the configuration file that holds its number.")] = ""
    number: Annotated[int, describe("Its number, where the variable is not set, and the key holds none.", **PORT)] = 0
    protocol: Annotated[Protocol, describe("What is spoken on it.")] = "tcp"
    paths: Annotated[tuple[str, ...], describe("HTTP paths that are answered, as globs; all others with 404.")] = ("*",)
    health_checks: Annotated[
        Mapping[str, tuple[str, ...]],
        describe(
            "Health pages that ask callees: by path (a glob), the components whose answer the page waits for, and "
            "without which it reports a failure."
        ),
    ] = {}


class Need(Value, frozen=True, kw_only=True):
    """A callee that a process must reach to come up, with the address that it read itself."""

    callee: Annotated[str, describe("The component; there must be an edge to it.")]
    text: Annotated[str, describe("What it prints when it gives up; `{cause}` is replaced.")] = "{cause}"
    code: Annotated[int, describe("Exit code with which it then ends.", **EXIT_CODE)] = 1
    wait_seconds: Annotated[
        float,
        describe(
            "How long it waits for the callee; negative waits forever. It gives up at once where its login is refused, "
            "unless it waits forever.",
            unit=SECONDS,
        ),
    ] = 0.0
    lazy: Annotated[
        bool, describe("Whether the callee is needed only when it is first called; the process runs until then.")
    ] = False
    resolve_only: Annotated[bool, describe("Whether it is enough that the callee's name resolves.")] = False


class Start(Value, frozen=True, kw_only=True):
    """What a process needs to come up. Without it, it prints a message and exits."""

    env: Annotated[
        tuple[str, ...],
        describe(
            "Variables, as globs: those set in the container that match must not be empty, and a name without wildcard "
            "must be set.",
            group="Configuration",
        ),
    ] = ()
    env_text: Annotated[
        str, describe("What it prints when a variable is missing; `{variable}` is replaced.", group="Configuration")
    ] = "required environment variable {variable} is not set"
    env_code: Annotated[int, describe("Exit code when a variable is missing.", group="Configuration", **EXIT_CODE)] = 1
    port_text: Annotated[
        str,
        describe(
            "What it prints when the variable of a port holds no number, and it ends; `{value}` is replaced. By "
            "default, what programs of its language print; those of others than `dotnet`, `envoy`, `go`, `java`, "
            "`python` and `rust` run without the port.",
            group="Configuration",
        ),
    ] = ""
    port_code: Annotated[int, describe("Exit code with `portText`.", group="Configuration", **EXIT_CODE)] = 1
    keys: Annotated[
        dict[str, str],
        describe(
            "Keys of the configuration file that must not be empty, each with what is printed otherwise.",
            group="Configuration",
        ),
    ] = {}
    keys_code: Annotated[int, describe("Exit code when a key is missing.", group="Configuration", **EXIT_CODE)] = 1
    dependencies: Annotated[tuple[Need, ...], describe("Callees that it must reach, one after another.")] = ()
    exit_delay_seconds: Annotated[float, describe("From the start to the exit.", unit=SECONDS, ge=0)] = 1.0


class Termination(Value, frozen=True, kw_only=True):
    """How a program ends when the kubelet asks it to (SIGTERM, or the signal that its image declares)."""

    ignore_signal: Annotated[
        bool,
        describe(
            "Whether it has no handler for the signal: as first process of its container it then ignores it, and is "
            "killed after the grace period (exit code 137). Shells around other programs are recognised by the "
            "container's command."
        ),
    ] = False
    seconds: Annotated[float, describe("How long it takes to end.", unit=SECONDS, ge=0)] = 0.0
    exit_code: Annotated[int, describe("Exit code with which it ends.", **EXIT_CODE)] = 143


class ComponentModel(Value, frozen=True, kw_only=True):
    """How one component behaves."""

    image: Annotated[str, describe("The image that implements it, as a glob.", group="Program")]
    commands: Annotated[
        tuple[str, ...],
        describe("Names of the program that tell components with the same image apart.", group="Program"),
    ] = ()
    arguments: Annotated[
        tuple[str, ...],
        describe(
            "Words of the command line, as globs, that tell components with the same image apart: each must be there.",
            group="Program",
        ),
    ] = ()
    container: Annotated[
        str,
        describe("Name of the container, as a glob, that tells components with the same image apart.", group="Program"),
    ] = "*"
    program: Annotated[
        str,
        describe(
            "What runs; components of the same program can stand in for each other. Empty if there is no other.",
            group="Program",
        ),
    ] = ""
    config: Annotated[
        str,
        describe(
            "Path of its configuration file, JSON, read when the process starts. A key inside of objects is spelled "
            "with dots (`cache.addr`); texts and numbers count.",
            group="Program",
        ),
    ] = ""
    registrations: Annotated[
        tuple[Registration, ...],
        describe("Registries in which a process announces itself when it has come up.", group="Startup"),
    ] = ()
    ports: Annotated[tuple[Port, ...], describe("Ports on which it listens.", group="Requests")] = ()
    ready_seconds: Annotated[
        float,
        describe(
            "From its start until it serves; later where a CPU limit makes `startCpuSeconds` last longer.",
            unit=SECONDS,
            group="Startup",
            ge=0,
        ),
    ] = 5.0
    start_cpu_seconds: Annotated[
        float, describe("CPU time that it needs to come up.", unit=SECONDS, group="Startup", ge=0)
    ] = 0.0
    dialect: Annotated[
        Dialect,
        describe(
            "The language whose words it has for failures; `erlang`, `php`, `ruby` and `swift` speak like `go`.",
            group="Program",
            synonyms=_DIALECT_SYNONYMS,
        ),
    ] = "go"
    libc: Annotated[
        Libc,
        describe(
            "The C library of its image, which resolves names; `musl` in images of Alpine. Programs of Go resolve "
            "them by themselves.",
            group="Program",
        ),
    ] = "glibc"
    idle_millicores: Annotated[
        float, describe("CPU that it uses without requests.", unit=MILLICORES, group="Resources", ge=0)
    ] = 3.0
    threads: Annotated[
        int,
        describe(
            "How many of its threads can use the CPU at a time; 0 for one in programs of `node` and `python`, and for "
            "as many as there are cores in all others.",
            group="Resources",
            ge=0,
        ),
    ] = 0
    cpu_ms: Annotated[
        float,
        describe(
            "CPU time of one call, where its operation says nothing else.", unit=MILLISECONDS, group="Resources", ge=0
        ),
    ] = 1.0
    memory_mib: Annotated[float, describe("Working set without load.", unit=MIB, group="Resources", ge=0)] = 20.0
    connection_mib: Annotated[
        float, describe("Memory of one client connection.", unit=MIB, group="Resources", ge=0)
    ] = 0.0
    max_connections: Annotated[
        int, describe("The most client connections that it accepts; 0 for no limit.", group="Resources", ge=0)
    ] = 0
    background_error: Annotated[
        float, describe("The share of calls that fails even in a healthy app.", group="Requests", **SHARE)
    ] = 0.0
    operations: Annotated[
        dict[str, Operation],
        describe(
            "What it does on request, by the name under which steps call it; `{route}` in a name is that of the route.",
            group="Requests",
        ),
    ] = {}
    start: Annotated[Start, describe("What a process needs to come up.", group="Startup")] = Start()
    termination: Annotated[Termination, describe("How it ends when it is asked to.", group="Startup")] = Termination()
    telemetry: Annotated[
        AddressSource | None,
        describe("Where it reads the collector's address; leave out if it reports no spans.", group="Tracing"),
    ] = None
    telemetry_protocol: Annotated[Protocol, describe("What it speaks with the collector.", group="Tracing")] = "tcp"
    cancel_calls: Annotated[
        bool,
        describe(
            "Whether its calls end with an error when its own caller gives up, as with Go's contexts.",
            group="Requests",
        ),
    ] = False
    unset_status: Annotated[
        bool, describe("Whether none of its spans shows an error, as its code sets no status.", group="Tracing")
    ] = False
    consumers: Annotated[
        tuple[Consumer, ...], describe("Consumer groups of which it is a member.", group="Requests")
    ] = ()
    logins: Annotated[tuple[Login, ...], describe("Logins that it accepts, as a store.", group="Data")] = ()
    databases: Annotated[tuple[Database, ...], describe("Databases that it has, as a store.", group="Data")] = ()
    java: Annotated[JavaModel, describe("A Java program from inside.", group="Program")] = JavaModel()
    disk: Annotated[DiskModel, describe("Its files.", group="Data")] = DiskModel()
    banner: Annotated[tuple[str, ...], describe("Lines that it prints when it has come up.", group="Startup")] = ()
