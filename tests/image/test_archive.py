"""Image archives: metadata, and detection of every wrong digest."""

import io
import json
import tarfile

import pytest

from scenario_kit.errors import UsageError
from tools.image.compare import describe_differences
from tools.image.layer import FileEntry, write_layer
from tools.image.layout import ImageConfig, verify_archive, write_archive

IMAGE = ImageConfig(
    name="scenario-kit:1",
    architecture="amd64",
    user="65532:65532",
    entrypoint=("/bin/run",),
    arguments=("--flag",),
    environment={"B": "2", "A": "1"},
    labels={"org.opencontainers.image.version": "1"},
)


def make(folder, content=b"text", image=IMAGE):
    folder.mkdir()
    layer = write_layer("a layer", [FileEntry("file", content=content)], 5, folder / "layer")
    archive = folder / "image.tar"
    return archive, write_archive(image, [layer], 5, archive)


def members(archive):
    with tarfile.open(archive) as tar:
        return {info.name: tar.extractfile(info).read() for info in tar}


def rewrite(archive, change):
    files = members(archive)
    change(files)
    with tarfile.open(archive, "w") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def test_equal_images_give_equal_archives(tmp_path):
    one, other = make(tmp_path / "one"), make(tmp_path / "other")
    assert one[0].read_bytes() == other[0].read_bytes()
    assert one[1] == other[1] == verify_archive(one[0])
    assert list(describe_differences(one[0], other[0])) == []


def test_archive_has_the_container_configuration(tmp_path):
    archive, digests = make(tmp_path / "one")
    files = members(archive)
    config = json.loads(files[f"blobs/{digests.config.replace(':', '/')}"])
    assert config["config"] == {
        "User": "65532:65532", "Env": ["A=1", "B=2"], "Entrypoint": ["/bin/run"], "Cmd": ["--flag"],
        "WorkingDir": "/", "Labels": {"org.opencontainers.image.version": "1"},
    }  # fmt: skip
    assert (config["created"], config["os"], config["architecture"]) == ("1970-01-01T00:00:05Z", "linux", "amd64")


def test_docker_and_oci_manifests_name_the_same_image(tmp_path):
    archive, digests = make(tmp_path / "one")
    files = members(archive)
    (described,) = json.loads(files["index.json"])["manifests"]
    (legacy,) = json.loads(files["manifest.json"])
    assert described["digest"] == digests.manifest
    assert described["annotations"]["io.containerd.image.name"] == "docker.io/library/scenario-kit:1"
    assert legacy["Config"] == f"blobs/{digests.config.replace(':', '/')}"
    assert legacy["RepoTags"] == ["docker.io/library/scenario-kit:1"]
    assert set(legacy["Layers"]) <= set(files)


def damage_blob(kind):
    def change(files):
        described = json.loads(files["index.json"])["manifests"][0]["digest"]
        manifest = json.loads(files[f"blobs/{described.replace(':', '/')}"])
        digest = manifest["layers"][0]["digest"] if kind == "layer" else manifest["config"]["digest"]
        path = f"blobs/{digest.replace(':', '/')}"
        data = bytearray(files[path])
        data[len(data) // 2] ^= 1
        files[path] = bytes(data)

    return change


def lose_index(files):
    del files["index.json"]


def change_manifest(files):
    described = json.loads(files["index.json"])["manifests"][0]["digest"]
    files[f"blobs/{described.replace(':', '/')}"] += b" "


@pytest.mark.parametrize("change", [damage_blob("layer"), damage_blob("config"), lose_index, change_manifest])
def test_damage_is_found(change, tmp_path):
    archive, _ = make(tmp_path / "one")
    rewrite(archive, change)
    with pytest.raises(UsageError) as caught:
        verify_archive(archive)
    assert caught.value.fix


@pytest.mark.parametrize("text", [b"", b"no archive", b"\0" * 2048])
def test_invalid_archive_is_refused(text, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(text)
    with pytest.raises(UsageError, match="archive"):
        verify_archive(file)


def test_difference_is_described_by_file(tmp_path):
    one, _ = make(tmp_path / "one")
    other, _ = make(tmp_path / "other", b"TEXT")
    assert list(describe_differences(one, other)) == ["layer 1: file differs"]
