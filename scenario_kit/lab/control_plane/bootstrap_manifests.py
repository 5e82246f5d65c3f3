"""What a cluster needs before the first incident: namespaces, definitions, and what the solver may see and do."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE
from scenario_kit.schema import solver
from scenario_kit.schema.install import build_event_exclusion, build_operator_access
from scenario_kit.schema.policies import build_scenario_policies

CHAOS_NAMESPACE = "chaos-mesh"


def build_namespaces() -> list[Object]:
    """Build the namespaces of our own objects and of the chaos manager. A solver can read neither's content."""
    names = (MANAGEMENT_NAMESPACE, CHAOS_NAMESPACE)
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names]


def build_access() -> list[Object]:
    """Build what the solver may see and do, and what is kept out of every namespace's events."""
    return [*solver.build_solver_access(), *build_event_exclusion()]


def bind_operator() -> list[Object]:
    """Return what the operator may do, as in any other cluster, and what the API server refuses to it and to
    Scenarios.
    """
    return [*build_operator_access(), *build_scenario_policies()]


def read_own_definitions() -> list[Object]:
    """Read our CustomResourceDefinitions, generated beside the operator."""
    package = find_operators_folder()
    path = package / "manifests" / "crds.yaml" if package else None
    if path is None or not path.exists():
        return []
    documents: list[Any] = list(yaml.load_all(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    return [document for document in documents if document]


def find_operators_folder() -> Path | None:
    """Find where the operators are installed; they are programs to the lab, no library."""
    spec = find_spec("operators")
    return Path(spec.origin).parent if spec and spec.origin else None
