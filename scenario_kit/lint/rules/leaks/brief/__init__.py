"""SK211: the brief states symptoms and gives no part of the answer away.

``text`` normalises what an author wrote, ``statements`` finds what no page of an on-call engineer holds, ``mechanism``
finds statements of how a component broke, ``disguise`` undoes encodings, ``language`` tells sentences that are not in
English, and ``rule`` applies them to a scenario. No program can judge every wording: a reviewer reads each brief too.
"""

from scenario_kit.lint.rules.leaks.brief import rule  # noqa: F401 - registers the rule
