"""Malformed files: syntax, names, versions, and objects that no catalogue may contain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject


@edit("SK102")
def misspelled_field(subject: Subject, spec: Document) -> str:
    """A field name is misspelled."""
    spec["groundTruth"]["rootcauses"] = spec["groundTruth"].pop("rootCauses", [])
    return "rootcauses"


@kind("SK101")
def key_twice(subject: Subject) -> Iterator[Defect]:
    """A key occurs twice, so one of its values would be lost."""
    text = subject.path.read_text()
    yield Defect("a second title", text.replace("\n  title:", "\n  title: Another one\n  title:", 1))


@kind("SK101")
def line_break_that_nobody_sees(subject: Subject) -> Iterator[Defect]:
    """A comment goes on with a field after a line break that editors do not show, or that reverses what is shown."""
    text = subject.path.read_text()
    for sign in ("\x85", "\u2028", "\u202e"):
        yield Defect(f"U+{ord(sign):04X} in a comment", text.replace("\nspec:\n", f"\n# harmless{sign}\nspec:\n", 1))


@edit("SK104")
def value_of_another_type(subject: Subject, spec: Document) -> str:
    """A string stands where a list is expected."""
    spec["tags"] = "networking"
    return "tags is a text"


@edit("SK104")
def unknown_class(subject: Subject, spec: Document) -> str:
    """A value is not in its enumeration."""
    needs(spec.get("expect", {}).get("alerts"), "no alert is expected")[0]["class"] = "must-fire"
    return "class: must-fire"


@edit("SK103")
def missing_field(subject: Subject, spec: Document) -> str:
    """A required field is missing."""
    spec.pop("title")
    return "no title"


@kind("SK105")
def another_version_of_the_format(subject: Subject) -> Iterator[Defect]:
    """The apiVersion is not supported."""
    document, _ = subject.copy()
    document["apiVersion"] = "scenariokit.io/v1"
    yield Defect("apiVersion scenariokit.io/v1", document)


@kind("SK003")
def another_folder(subject: Subject) -> Iterator[Defect]:
    """The folder name differs from the scenario name."""
    document, _ = subject.copy()
    yield Defect("in a folder of another name", document, folder="another-folder")


@edit("SK107")
def unknown_version(subject: Subject, spec: Document) -> str:
    """The app has no such version."""
    spec["app"]["version"] = "0.0.1"
    return "version 0.0.1"


@edit("SK123")
def template_text(subject: Subject, spec: Document) -> str:
    """A template expression stands in a field that is not rendered."""
    spec["brief"] = "Customers of {{ shop }} complain."
    return "a template in the brief"


def _created(subject: Subject, reported: str, body: Document) -> Defect:
    document, spec = subject.copy()
    needs(subject.incident, "there is no incident")
    decoy = {"name": "one-more-pod", "description": "Somebody tries it", "changes": [{"create": body}]}
    spec["decoys"] = [*spec.get("decoys", []), decoy]
    return Defect(reported, document)


def _pod(image: str = "", command: list[str] | None = None, **context: Any) -> Document:
    pinned = (
        "docker.io/library/busybox:1.36@sha256:" + "9ae97d36d26566ff84e8893c64a6dc4fe8ca6d1144bf5b87b2b85a32def253c7"
    )
    container: Document = {"name": "main", "image": image or pinned, "command": command or ["sleep", "60"]}
    if context:
        container["securityContext"] = context
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "batch"}, "spec": {"containers": [container]}}


@kind("SK201")
def unpinned_image(subject: Subject) -> Iterator[Defect]:
    """A pod uses an image without a digest."""
    yield _created(subject, "image busybox:latest", _pod("docker.io/library/busybox:latest"))


@kind("SK202")
def privileged_pod(subject: Subject) -> Iterator[Defect]:
    """A pod has a privileged container."""
    yield _created(subject, "privileged: true", _pod(privileged=True))


@kind("SK202")
def host_path(subject: Subject) -> Iterator[Defect]:
    """A pod mounts the node's file system."""
    body = _pod()
    body["spec"]["volumes"] = [{"name": "host", "hostPath": {"path": "/"}}]
    yield _created(subject, "hostPath /", body)


@kind("SK203")
def cluster_admin(subject: Subject) -> Iterator[Defect]:
    """A service account is bound to cluster-admin."""
    body = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "batch"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "app"}],
    }
    yield _created(subject, "a ClusterRoleBinding to cluster-admin", body)


@kind("SK204")
def download(subject: Subject) -> Iterator[Defect]:
    """A pod installs software from the network."""
    yield _created(subject, "pip install", _pod(command=["sh", "-c", "pip install requests"]))
