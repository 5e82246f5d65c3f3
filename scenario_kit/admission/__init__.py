"""Which changes are admitted: what a scenario may create and write, said as data, and one judgement of it.

``lint`` applies it to files, the operator to every Scenario and every Trial before anything of it exists. What is
judged is what changes make of the rendered objects, never the text that yields them.
"""

from scenario_kit.admission.bounds import AdmissionBounds, derive_bounds
from scenario_kit.admission.breach import NODE, Breach
from scenario_kit.admission.judgement import find_breaches, judge_object

__all__ = ["NODE", "AdmissionBounds", "Breach", "derive_bounds", "find_breaches", "judge_object"]
