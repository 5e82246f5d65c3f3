"""Every series that a lab has, of whatever app, read from ``series.yaml``: names, labels, and closed label values.

The exporters are kube-state-metrics, cAdvisor and the collector with its receivers; a test compares this with what the
lab exports. The names of an app's components, stores and queues are the app's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenario_kit.load.package_data import read_package_data

_DATA: Final = read_package_data(__file__)

#: Labels by the name of a series.
LABELS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(entry["labels"].split()) for entry in _DATA["series"] for name in entry["names"].split()
}
#: Values of labels that have no others, by the name of a series.
VALUES: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    name: {e["label"]: frozenset(e["values"].split()) for e in _DATA["values"] if name in e["names"].split()}
    for entry in _DATA["values"]
    for name in entry["names"].split()
}
