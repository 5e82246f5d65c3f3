"""Admission of changes: what a scenario may create and write, as data, and one judgement of it.

``lint`` applies it to files, the operator to every Scenario and Trial before creating anything. It judges the
resulting objects, never the templates that produce them.
"""

from scenario_kit.admission.bounds import AdmissionBounds, derive_bounds
from scenario_kit.admission.breach import NODE, Breach
from scenario_kit.admission.judgement import find_breaches

__all__ = ["NODE", "AdmissionBounds", "Breach", "derive_bounds", "find_breaches"]
