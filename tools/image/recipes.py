"""Contents and configuration of each image: packages, wheels, selected files. Data only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

PYTHON: Final = "3.13"
ARCHITECTURES: Final = ("amd64", "arm64")
#: An unprivileged user ID that no machine assigns.
USER: Final = "65532"
FOLDER: Final = Path(__file__).parent
LIBRARY: Final = f"usr/lib/python{PYTHON}"
#: Where Debian's Python looks for third-party packages.
PACKAGES: Final = f"usr/local/lib/python{PYTHON}/dist-packages"
#: The toolchain's cache folder in the lab image.
CACHE: Final = "opt/scenario-kit"

#: Packages to install; wheels need the C++ library.
DEBIAN_ROOTS: Final = (f"python{PYTHON}-minimal", f"libpython{PYTHON}-stdlib", "libstdc++6")
#: Omitted dependencies, and the features that need them.
DEBIAN_LEFT_OUT: Final[Mapping[str, str]] = {
    "debconf": "questions during an installation",
    "libdb5.3t64": "dbm.ndbm",
    "libncursesw6": "curses, readline",
    "libreadline8t64": "readline",
    "libsqlite3-0": "sqlite3",
    "libtinfo6": "curses",
    "media-types": "MIME types by file name; Python has its own table",
    "netbase": "names of ports and protocols",
    "openssl-provider-legacy": "algorithms that are no longer safe",
    "readline-common": "readline",
    "tzdata": "time zones: all times are UTC",
}
#: Files of packages that a container does not need, or whose libraries are left out.
_DEBIAN_UNUSED: Final = re.compile(
    r"usr/share/(?!doc/[^/]+/copyright$).*"
    r"|usr/(?:bin|sbin|libexec)/(?!python3\.\d+$).*"
    r"|(?:etc|var)/.*"
    r"|usr/lib/[^/]+/(?:gconv|audit|engines-3|ossl-modules)/.*"
    rf"|{LIBRARY}/(?:test|idlelib|tkinter|turtledemo|ensurepip|lib2to3|pydoc_data|curses|sqlite3|dbm|venv)/.*"
    rf"|{LIBRARY}/(?:sitecustomize\.py|turtle\.py|EXTERNALLY-MANAGED|config-.*|_sysconfigdata__.*-dbg.*|LICENSE\.txt)"
    rf"|{LIBRARY}/lib-dynload/(?:_curses|_curses_panel|readline|_dbm|_gdbm|_sqlite3|_tkinter|_test\w*|_ctypes_test|xx\w*|_xx\w*)\..*"
)
#: Files of wheels for people, compilers and type checkers only, and metadata such as ``RECORD``.
_WHEEL_UNUSED: Final = re.compile(
    r"(?:.*/)?(?:tests|e2e_test|docs|examples|benchmarks)/.*|kubernetes/test/.*"
    r"|.*\.(?:pyi|pxd|pyx|pxi|c|h|cc|cpp|hpp|a|f|f90|md|rst|proto)|(?:.*/)?py\.typed"
    r"|[^/]+\.dist-info/(?:RECORD|WHEEL|INSTALLER|REQUESTED|top_level\.txt|sboms/.*|zip-safe)"
)

_ENVIRONMENT: Final[Mapping[str, str]] = {
    "HOME": "/tmp",  # the only folder that may be writable
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONSAFEPATH": "1",
    "PYTHONUNBUFFERED": "1",
    "SSL_CERT_FILE": f"/{PACKAGES}/certifi/cacert.pem",
}


@dataclass(frozen=True)
class KitSelection:
    """Selects the project's own files for an image.

    Packages are included as a whole, except the folders and files in ``without``.
    """

    without: Sequence[str] = ()

    def keeps(self, path: str) -> bool:
        """Return whether a file of the repository is in the image."""
        top = path.split("/", 1)[0]
        if top in ("catalog", "templates"):
            return True
        if top not in ("scenario_kit", "operators"):
            return False
        return not any(path == each or path.startswith(f"{each}/") for each in self.without)


@dataclass(frozen=True)
class ImageRecipe:
    """An image. ``wheels_lock`` pins the wheels of the project's requirements except ``without``."""

    name: str
    title: str
    wheels_lock: str
    kit: KitSelection
    entrypoint: Sequence[str]
    arguments: Sequence[str]
    environment: Mapping[str, str]
    #: Excluded requirements, each with what needs them.
    without: Mapping[str, str] = field(default_factory=dict)
    toolchain: bool = False


OPERATOR: Final = ImageRecipe(
    name="scenario-kit",
    title="scenario-kit: the operator, with its catalogue",
    wheels_lock="operator-wheels.txt",
    kit=KitSelection(
        without=(
            "operators/manifests",
            "scenario_kit/cli",
            "scenario_kit/contribution",
            "scenario_kit/draft",
            "scenario_kit/exporters",
            "scenario_kit/importers",
            "scenario_kit/lab",
            "scenario_kit/snapshot",
            "scenario_kit/shards",
            "scenario_kit/solver",
            "scenario_kit/testing",
            "operators/scenario/lab_platform.py",
        )
    ),
    entrypoint=("/usr/bin/python3", "-m", "operators.scenario"),
    arguments=("--in-cluster",),
    environment={**_ENVIRONMENT, "SCENARIO_KIT_LINT_CACHE": ""},
    without={
        "cramjam": "the lab's samples",
        "grpcio": "the lab's chaos daemon",
        "httpx": "the lab, and the registries of images",
        "numpy": "the twin; collections of more scenarios are compared without it",
        "protobuf": "the lab's chaos daemon",
        "rich": "the command line",
        "typer": "the command line",
    },
)

LAB: Final = ImageRecipe(
    name="scenario-kit-lab",
    title="scenario-kit: the command line, the lab and its toolchain",
    wheels_lock="lab-wheels.txt",
    kit=KitSelection(without=("scenario_kit/lab/toolchain/modules", "scenario_kit/testing")),
    entrypoint=("/usr/bin/scenario-kit",),
    arguments=("--help",),
    environment={**_ENVIRONMENT, "SCENARIO_KIT_CACHE": f"/{CACHE}"},
    toolchain=True,
)

RECIPES: Final = {recipe.name: recipe for recipe in (OPERATOR, LAB)}

#: The launcher of the command line; it needs no shell, which the image does not have.
LAUNCHER: Final = "#!/usr/bin/python3\nimport sys\n\nfrom scenario_kit.cli import main\n\nsys.exit(main())\n"


def is_debian_file_kept(path: str) -> bool:
    """Return whether a package's file is in the images."""
    return _DEBIAN_UNUSED.fullmatch(path) is None


def is_wheel_file_kept(path: str) -> bool:
    """Return whether a wheel's file is in the images."""
    return _WHEEL_UNUSED.fullmatch(path) is None
