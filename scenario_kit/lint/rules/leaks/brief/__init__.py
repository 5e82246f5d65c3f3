"""SK211: the brief may state only symptoms.

``text`` normalises the brief, ``statements`` finds what no page to an on-call engineer contains, ``mechanism`` finds
statements of how a component broke, ``obfuscation`` decodes hidden names, ``language`` detects sentences that are not
in English, and ``rule`` applies them to a scenario. Programs cannot judge every wording: reviewers read each brief too.
"""

from scenario_kit.lint.rules.leaks.brief import rule  # noqa: F401 - registers the rule
