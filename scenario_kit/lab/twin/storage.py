"""What programs do with files: parameters of stores, for chaos in the file systems of their containers."""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value

#: What a program asks of a file system, as FUSE counts it: a path is looked up part by part, and closing is a flush.
Method = Literal[
    "lookup", "getattr", "setattr", "mkdir", "unlink", "rmdir", "rename", "link", "open", "create", "read", "write",
    "flush", "fsync", "opendir", "readdir", "statfs", "access",
]  # fmt: skip


class Access(Value, frozen=True, kw_only=True):
    """What an operation does with one file, ``methods`` in their order; ``file`` is below the component's directory.

    What stays in a program's own memory is no access. An operation ``waits`` for it, or leaves it to the background.
    ``queue``: nobody else is waited for (``Free``); the system lets one after the other to a ``File``; or all who come
    meanwhile share the next round (``Group``), as commits do. Where a method fails, the operation fails, callers read
    ``answer`` and the program prints ``log``; ``code`` ends the program ``after_seconds`` with that exit code.
    ``wrong`` is what callers read where other bytes are read than there are, and ``wrong_log`` what the program prints;
    without it nobody notices. ``{error}`` stands for the words of the operating system.
    """

    file: str
    methods: tuple[Method, ...]
    waits: bool = True
    queue: Literal["Free", "File", "Group"] = "Free"
    answer: str = "{error}"
    wrong: str = ""
    wrong_log: str = ""
    log: str = ""
    code: int = 0
    after_seconds: float = 0.0


class Snapshots(Value, frozen=True, kw_only=True):
    """A store that writes all it holds into a file now and then, in the background, as Redis and Valkey do.

    It does so after so many seconds with so many changes, by whichever pair of ``after`` holds first; calls of
    ``operations`` are the changes. Where that fails it prints ``log``, tries again after ``retry_seconds``, and answers
    those operations with ``refusal`` until it succeeds and prints ``success``.
    """

    file: str
    methods: tuple[Method, ...]
    after: tuple[tuple[float, float], ...]
    operations: tuple[str, ...]
    retry_seconds: float = 5.0
    log: str = ""
    refusal: str = ""
    success: str = ""


class Upkeep(Value, frozen=True, kw_only=True):
    """What a store does in files by itself ``every_seconds``, where calls of ``operations`` came since it last did.

    Nobody waits for it; the access that fails ends the store, or is only told in its log.
    """

    every_seconds: float
    operations: tuple[str, ...]
    files: tuple[Access, ...]


class DiskModel(Value, frozen=True, kw_only=True):
    """Where a program keeps its files: an absolute ``directory``, and the ``volumes`` that its image declares.

    containerd mounts something at a declared volume wherever the pod mounts nothing. ``errors`` are the words of its C
    library for numbers of errors, where they are not those of glibc.
    """

    directory: str = ""
    volumes: tuple[str, ...] = ()
    errors: dict[str, str] = {}
    snapshots: Snapshots | None = None
    upkeep: tuple[Upkeep, ...] = ()
