"""The series of a lab, from ``series.yaml``: names, labels, and closed sets of label values.

The exporters are kube-state-metrics, cAdvisor and the collector with its receivers; a test compares the file with what
a lab exports. Names of components, stores and queues depend on the app.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenario_kit.load.package_data import read_package_data

_DATA: Final = read_package_data(__file__)

#: Labels by metric name.
LABELS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(entry["labels"].split()) for entry in _DATA["series"] for name in entry["names"].split()
}
#: Complete sets of label values, by metric name and label.
VALUES: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    name: {e["label"]: frozenset(e["values"].split()) for e in _DATA["values"] if name in e["names"].split()}
    for entry in _DATA["values"]
    for name in entry["names"].split()
}
