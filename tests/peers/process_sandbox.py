"""An environment of Harbor without a container engine: processes with a root folder of their own.

It carries out ``WORKDIR`` and ``COPY`` of a Dockerfile in a fresh folder, binds this machine's programs into it, and
runs each command there by ``unshare`` and ``chroot``. ``RUN`` is not carried out: what it would install has to be on
the machine. So the tasks' files, scripts, paths and phases are tried, and their images are not.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import tempfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult

_SYSTEM = ("bin", "etc", "lib", "lib64", "sbin", "usr")


class ProcessSandbox(BaseEnvironment):
    """One root folder; everything in it goes with the environment."""

    @staticmethod
    def type() -> str:
        return "process-sandbox"

    def _validate_definition(self) -> None:
        if not (self.environment_dir / "Dockerfile").is_file():
            raise FileNotFoundError(f"{self.environment_dir} has no Dockerfile")

    async def start(self, force_build: bool) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="harbor-"))
        self._home = "/"
        for name in (*_SYSTEM, "dev", "logs/agent", "logs/verifier", "logs/artifacts", "proc", "tmp", "root"):
            if Path("/", name).is_symlink():
                (self._root / name).symlink_to(Path("/", name).readlink())
            else:
                (self._root / name).mkdir(parents=True)
        for line in (self.environment_dir / "Dockerfile").read_text().replace("\\\n", " ").splitlines():
            keyword, _, rest = line.partition(" ")
            if keyword == "WORKDIR":
                self._home = rest
                self._locate(rest).mkdir(parents=True, exist_ok=True)
            elif keyword == "COPY":
                source, goal = rest.split()
                shutil.copytree(self.environment_dir / source, self._locate(goal), dirs_exist_ok=True)
            elif keyword not in ("FROM", "RUN", ""):
                raise ValueError(f"{keyword} is not carried out here")

    async def stop(self, delete: bool) -> None:
        shutil.rmtree(self._root, ignore_errors=True)

    def _locate(self, path: str) -> Path:
        return self._root / str(path).lstrip("/")

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        self._locate(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source_path, self._locate(target_path))

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        shutil.copytree(source_dir, self._locate(target_dir), dirs_exist_ok=True)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self._locate(source_path), target_path)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        shutil.copytree(self._locate(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(
        self, command: str, cwd: str | None = None, env: dict[str, str] | None = None, timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:  # fmt: skip
        root = shlex.quote(str(self._root))
        binds = [n for n in _SYSTEM if not Path("/", n).is_symlink() and Path("/", n).is_dir()]
        lines = [f"mount --rbind /{name} {root}/{name}" for name in (*binds, "dev", "proc")]
        inside = f"cd {shlex.quote(cwd or self._home)} && {command}"
        lines.append(f"exec chroot {root} /bin/bash -c {shlex.quote(inside)}")
        values = {
            "PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin",
            "HOME": "/root",
            **(self._merge_env(env) or {}),
        }
        process = await asyncio.create_subprocess_exec(
            "unshare", "--map-root-user", "--mount", "bash", "-ec", "\n".join(lines), env=values,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            out, err = await asyncio.wait_for(process.communicate(), timeout_sec)
        except TimeoutError:
            process.kill()
            raise
        return ExecResult(stdout=out.decode(), stderr=err.decode(), return_code=process.returncode or 0)
