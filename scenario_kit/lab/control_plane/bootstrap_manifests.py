"""Initial objects of a cluster: namespaces, definitions, and the solver's and operator's permissions."""

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
from scenario_kit.schema.solver_limits import build_solver_limits

CHAOS_NAMESPACE = "chaos-mesh"


def build_namespaces() -> list[Object]:
    """Build the namespaces of our own objects and of the chaos manager. A solver can read neither."""
    names = (MANAGEMENT_NAMESPACE, CHAOS_NAMESPACE)
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names]


def build_access() -> list[Object]:
    """Build the solver's permissions and limits, and the policy that keeps other components out of events."""
    return [*solver.build_solver_access(), *build_solver_limits(), *build_event_exclusion()]


def bind_operator() -> list[Object]:
    """Build the operator's permissions, as in any cluster, and admission policies for it and for Scenarios."""
    return [*build_operator_access(), *build_scenario_policies()]


def read_own_definitions() -> list[Object]:
    """Read our CustomResourceDefinitions, generated next to the operator."""
    package = find_operators_folder()
    path = package / "manifests" / "crds.yaml" if package else None
    if path is None or not path.exists():
        return []
    documents: list[Any] = list(yaml.load_all(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    return [document for document in documents if document]


def find_operators_folder() -> Path | None:
    """Return the directory of the operators, which are programs to the lab, not a library."""
    spec = find_spec("operators")
    return Path(spec.origin).parent if spec and spec.origin else None
