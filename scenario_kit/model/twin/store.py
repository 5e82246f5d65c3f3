"""Stores: who may log in, which databases there are, and what is read and written in files."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from scenario_kit.model.base import Value
from scenario_kit.model.twin.fields import EXIT_CODE, MOST, SECONDS, describe

#: File system operations as FUSE counts them: a path is looked up component by component, and closing is a flush.
Method = Literal[
    "lookup", "getattr", "setattr", "mkdir", "unlink", "rmdir", "rename", "link", "open", "create", "read", "write",
    "flush", "fsync", "opendir", "readdir", "statfs", "access",
]  # fmt: skip


class Login(Value, frozen=True, kw_only=True):
    """A user and password that a store accepts. A store without logins accepts everybody."""

    user: Annotated[str, describe("Name of the user, where no variable holds it.")] = ""
    user_env: Annotated[str, describe("The store's variable that holds the user's name.")] = ""
    password_env: Annotated[str, describe("The store's variable that holds the password.")] = ""
    flag: Annotated[
        str,
        describe(
            "The word of the store's command line that turns authentication on, such as `--requirepass`; the word "
            "after it, unless that is an option, is the password of the user without a name."
        ),
    ] = ""
    config_map: Annotated[str, describe("The ConfigMap in which `pattern` finds logins.")] = ""
    key: Annotated[str, describe("The key of the ConfigMap.")] = ""
    pattern: Annotated[
        str, describe("Regular expression with the groups `user` and `password`; each match is a login.")
    ] = ""


class Database(Value, frozen=True, kw_only=True):
    """A database of a store. A store without any has every database that a client requests."""

    name: Annotated[str, describe("Name of the database.")] = ""
    env: Annotated[tuple[str, ...], describe("Variables of the store; the first one that is set holds the name.")] = ()
    config_map: Annotated[str, describe("The ConfigMap in which `pattern` finds what creates databases.")] = ""
    key: Annotated[str, describe("The key of the ConfigMap.")] = ""
    pattern: Annotated[str, describe("Regular expression with the group `name`; each match is a database.")] = ""


class Access(Value, frozen=True, kw_only=True):
    """What an operation does with one file. What stays in the program's own memory is no access.

    `{error}` in messages stands for the operating system's words.
    """

    file: Annotated[str, describe("Path of the file below the component's `disk.directory`.")]
    methods: Annotated[tuple[Method, ...], describe("Requests to the file system, in their order.")]
    blocking: Annotated[bool, describe("Whether the operation waits for it; `false` leaves it to the background.")] = (
        True
    )
    queue: Annotated[
        Literal["Free", "File", "Group"],
        describe(
            "Which operations are waited for: none (`Free`), earlier ones on the file (`File`), or the previous round, "
            "the next round being shared by all that arrive in the meantime, as in a group commit (`Group`)."
        ),
    ] = "Free"
    error_response: Annotated[str, describe("What callers read when a method fails.", group="Failures")] = "{error}"
    corrupt_response: Annotated[
        str, describe("What callers read when corrupt bytes are read; empty if nothing detects them.", group="Failures")
    ] = ""
    corrupt_log: Annotated[str, describe("What the program prints when corrupt bytes are read.", group="Failures")] = ""
    log: Annotated[str, describe("What the program prints when a method fails.", group="Failures")] = ""
    code: Annotated[
        int,
        describe("Exit code with which a failure ends the program; 0 lets it go on.", group="Failures", **EXIT_CODE),
    ] = 0
    exit_delay_seconds: Annotated[
        float, describe("From the failure to that exit.", unit=SECONDS, group="Failures", ge=0)
    ] = 0.0


class Snapshots(Value, frozen=True, kw_only=True):
    """Snapshots of a store that now and then writes all it holds into a file, in the background (Redis, Valkey)."""

    file: Annotated[str, describe("Path of the file below `disk.directory`.")]
    methods: Annotated[tuple[Method, ...], describe("Requests to the file system for one snapshot, in their order.")]
    save_after: Annotated[
        tuple[tuple[Annotated[float, Meta(gt=0, le=MOST[SECONDS])], Annotated[float, Meta(gt=0)]], ...],
        describe(
            "Pairs of seconds and changes: a snapshot is due after so long with so many, by whichever comes first."
        ),
    ]
    operations: Annotated[tuple[str, ...], describe("Operations whose calls are the changes.")]
    retry_seconds: Annotated[float, describe("From a failed snapshot to the next attempt.", unit=SECONDS, ge=0)] = 5.0
    log: Annotated[str, describe("What the store prints when a snapshot fails.")] = ""
    error_response: Annotated[
        str, describe("What callers of `operations` read until a snapshot succeeds again; empty lets them go on.")
    ] = ""
    success_log: Annotated[str, describe("What the store prints when a snapshot succeeds again.")] = ""


class Upkeep(Value, frozen=True, kw_only=True):
    """What a store does in files by itself, at intervals. Nobody waits for it."""

    every_seconds: Annotated[float, describe("The interval.", unit=SECONDS, gt=0)]
    operations: Annotated[
        tuple[str, ...], describe("Operations of which one must have been called since the last time.")
    ]
    files: Annotated[
        tuple[Access, ...], describe("The accesses; one that fails ends the store, or is only told in its log.")
    ]


class DiskModel(Value, frozen=True, kw_only=True):
    """The files of a program."""

    directory: Annotated[str, describe("Absolute path below which its files lie.")] = ""
    volumes: Annotated[
        tuple[str, ...],
        describe(
            "Paths that its image declares as volumes; containerd mounts a directory there unless the pod mounts one."
        ),
    ] = ()
    errors: Annotated[
        dict[str, str], describe("Its C library's words for error numbers, where they are not those of glibc.")
    ] = {}
    snapshots: Annotated[Snapshots | None, describe("Its snapshots; leave out if it makes none.")] = None
    maintenance: Annotated[tuple[Upkeep, ...], describe("What it does in files by itself.")] = ()
