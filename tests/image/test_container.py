"""The operator's image, run as by its Deployment, accepts a scenario."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import yaml

from scenario_kit.model import Reference
from tools.image.containers import PrivateContainerd, find_problems
from tools.image.layout import verify_archive

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"
#: An archive that is there already, instead of one that is built; for who looks at one image several times.
ARCHIVE = os.environ.get("SCENARIO_KIT_TEST_IMAGE", "")
#: The limit of the Deployment.
MOST_KIB = 512 * 1024

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(540)]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    if problems := find_problems():
        pytest.skip("; ".join(problems))
    if ARCHIVE:
        return Path(ARCHIVE)
    target = tmp_path_factory.mktemp("image") / "image.tar"
    command = [sys.executable, str(ROOT / "ci" / "image"), "--latest", "--out", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    if done.returncode == 2:
        pytest.skip(f"the image cannot be built here: {done.stderr.strip()[-300:]}")
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def containerd(archive):
    # Not in pytest's own folder: the path of a socket has 107 characters at most.
    with tempfile.TemporaryDirectory(prefix="sk-image-") as folder, PrivateContainerd(Path(folder)) as running:
        yield running


@pytest.fixture(scope="module")
def image(containerd, archive):
    (name,) = containerd.load(archive).items()
    digests = verify_archive(archive)
    assert name == (digests.name, digests.manifest)
    return digests.name


def run(containerd, image, name, *arguments, **more):
    process = containerd.start(image, name, arguments, more.get("environment", {}), more.get("mounts", {}))
    message, _ = process.communicate(timeout=60)
    return process.returncode, message


def test_container_filesystem_is_read_only(containerd, image):
    program = """
import os, pathlib, shutil
state = dict(line.split(":\\t") for line in open("/proc/self/status") if ":\\t" in line)
print(os.getuid(), os.getgid(), state["CapEff"].strip(), state["NoNewPrivs"].strip(), state["Seccomp"].strip())
for folder in ("/", "/tmp", "/usr", "/etc"):
    try:
        pathlib.Path(folder, "new").write_text("")
        print("written:", folder)
    except OSError:
        pass
print([shutil.which(name) for name in ("sh", "bash", "pip", "apt-get", "go")])
"""
    code, message = run(containerd, image, "hardened", "/usr/bin/python3", "-c", program)
    assert (code, message.split("\n")[:2]) == (0, ["65532 65532 0000000000000000 1 2", str([None] * 5)]), message


def test_operator_image_without_lab_is_a_usage_error(containerd, image):
    code, message = run(containerd, image, "lab", "/usr/bin/python3", "-m", "operators.scenario", "--lab", "default")
    assert code == 3
    assert "has no lab" in message
    assert "fix: --in-cluster" in message


def test_start_uses_precompiled_modules(containerd, image):
    code, message = run(
        containerd, image, "compiled", "/usr/bin/python3", "-v", "-c", "import operators.scenario.__main__"
    )
    assert code == 0
    assert len(re.findall(r"^# code object from .*\.pyc", message, re.MULTILINE)) > 500
    assert not re.findall(r"^# code object from .*\.py$", message, re.MULTILINE)


def eventually(what, within, message):
    end = time.monotonic() + within
    while not (value := what()):
        if time.monotonic() > end:
            pytest.fail(f"{message()} within {within} s")
        time.sleep(0.2)
    return value


@pytest.fixture
def operator(containerd, image, api_server, kube, prometheus, binary, tmp_path):
    """The operator in a container, against a real API server; an address where it is probed."""
    for name in ("crds", "access"):
        command = [str(binary("kubectl")), "--kubeconfig", str(api_server), "apply", "--server-side", "-f"]
        subprocess.run([*command, str(ROOT / "operators" / "manifests" / f"{name}.yaml")], check=True, timeout=60)
    settings = yaml.safe_load(api_server.read_text())
    for key, field in (("clusters", "certificate-authority"), ("users", "client-certificate"), ("users", "client-key")):
        for entry in settings[key]:
            place = entry[key.removesuffix("s")]
            if field in place:
                shutil.copy(place[field], tmp_path / field)
                place[field] = f"/etc/kubeconfig/{field}"
    (tmp_path / "config").write_text(yaml.safe_dump(settings))
    for file in tmp_path.iterdir():
        file.chmod(0o644)
    tmp_path.chmod(0o755)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{probe.getsockname()[1]}"
    context = settings["current-context"]
    process = containerd.start(
        image, "operator",
        ["/usr/bin/python3", "-m", "operators.scenario", "--context", context, "--allow-context", context,
         "--prometheus-url", prometheus, "--listen", listen],
        {"KUBECONFIG": "/etc/kubeconfig/config"}, {"/etc/kubeconfig": tmp_path},
    )  # fmt: skip
    yield process
    if process.poll() is None:
        containerd.end("operator")
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()


def test_operator_container_accepts_a_scenario(operator, containerd, api_server, kube, binary):
    command = [str(binary("kubectl")), "--kubeconfig", str(api_server), "--namespace", "scenario-kit", "apply", "-f"]
    subprocess.run([*command, str(SCENARIO)], check=True, timeout=60)
    ref = Reference("Scenario", SCENARIO.parent.name, "scenario-kit", "scenariokit.io")

    def accepted():
        assert operator.poll() is None, operator.communicate()[0]
        conditions = ((kube.get(ref) or {}).get("status") or {}).get("conditions") or []
        return [c for c in conditions if c["type"] == "Accepted" and c["status"] == "True"]

    eventually(accepted, 90, lambda: f"not accepted: {(kube.get(ref) or {}).get('status')}")
    status = Path(f"/proc/{containerd.find_process('operator')}/status").read_text()
    assert int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) < MOST_KIB
    kube.delete(ref)
    eventually(lambda: kube.get(ref) is None, 60, lambda: f"not gone: {kube.get(ref)}")
