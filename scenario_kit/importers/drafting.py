"""Drafts from what an importer understood: each is complete and passes lint, or is refused with the reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, Draft, aim_fault, draft, join_drafts
from scenario_kit.draft.answers import LONGEST_NAME
from scenario_kit.errors import AuthoringError
from scenario_kit.importers.decisions import ImportedFile
from scenario_kit.importers.ledger import InputNode
from scenario_kit.lint import lint_text
from scenario_kit.load.yaml.comments import format_question
from scenario_kit.load.yaml.edit import Drop, Edit, Put, apply_edits
from scenario_kit.model import App, Severity
from scenario_kit.model.authored.scenario import Outcome

#: Faults that one scenario may have.
MOST_FAULTS: Final = 16
#: The latest start of a fault, in seconds after the app became quiet.
LATEST_START: Final = 7200
_DESCRIPTION: Final = 4000


@dataclass(frozen=True, slots=True)
class FaultIntent:
    """A fault that an importer wants in a draft: ``entity`` is a component's name or an object's reference.

    ``node`` is the part of the input that asks for it. ``start_seconds`` is when it begins, ``replicas`` how many pods
    it hits, None for all.
    """

    fault: str
    entity: str
    node: InputNode
    parameters: dict[str, Any] = field(default_factory=dict)
    start_seconds: int = 0
    recurrence: dict[str, int] = field(default_factory=dict)
    replicas: int | None = None


@dataclass(slots=True)
class ScenarioIntent:
    """A scenario that an importer wants: ``name`` as the input has it, ``node`` is the part of the input it comes from.

    ``questions`` are what somebody has to decide. Without faults, nothing is broken in it.
    """

    name: str
    app: App
    node: InputNode
    faults: list[FaultIntent] = field(default_factory=list)
    description: str = ""
    questions: list[str] = field(default_factory=list)
    outcome: Outcome | Literal[""] = ""


class DraftWriter:
    """Writes the drafts of one import, each with a name of its own."""

    def __init__(self, catalog: Catalog, author: str = "") -> None:
        self.catalog, self.author = catalog, author
        self.files: list[ImportedFile] = []
        self._names: set[str] = set()

    def write(self, intent: ScenarioIntent) -> Draft | None:
        """Write one draft; None where nothing can be made of it, which is then refused where it comes from."""
        name = self._claim_name(intent.name)
        for fault in intent.faults[MOST_FAULTS:]:
            fault.node.blame(f"a scenario has at most {MOST_FAULTS} faults", "write a second scenario for the others")
        aimed = [(f, answers) for f in intent.faults[:MOST_FAULTS] if (answers := self._aim(intent, f, name))]
        made = self._join(intent, aimed, name)
        if made is not None and self._find_error(made.text, name):
            settled = [(f, answers) for f, each in aimed if (answers := self._settle(intent, f, each))]
            made = self._join(intent, settled, name)
        if made is None:
            self._names.discard(name)
            return None
        return self._keep(made, intent, name)

    def _join(self, intent: ScenarioIntent, aimed: Sequence[tuple[FaultIntent, Answers]], name: str) -> Draft | None:
        """Join the faults to one draft; None where there is none, though some should be."""
        drafts = []
        for fault, answers in aimed:
            try:
                drafts.append(draft(answers, self.catalog))
            except AuthoringError as error:
                fault.node.blame(_get_message(error), error.fix or "write this fault by hand")
        if not drafts and intent.faults:
            return None
        return join_drafts(drafts or [draft(self._answer(intent, name), self.catalog)])

    def _aim(self, intent: ScenarioIntent, fault: FaultIntent, name: str) -> Answers | None:
        """Aim one fault at the first object of its entity where it bites; None, and refused, where there is none."""
        aimed = aim_fault(fault.fault, fault.entity, intent.app, self.catalog, fault.parameters)
        if not aimed.offers:
            why = aimed.why or f"{fault.fault} has nothing to break at {fault.entity}"
            fault.node.blame(why, aimed.fix or "aim the fault at another object, or choose another fault")
            return None
        return self._answer(intent, name, fault, aimed.offers[0].target)

    def _settle(self, intent: ScenarioIntent, fault: FaultIntent, answers: Answers) -> Answers | None:
        """Return the answers with which a fault alone passes lint: as they are, or else without a recurrence."""
        problem = self._find_problem(answers)
        if problem and answers.recurrence:
            lasting = replace(answers, recurrence={})
            if not self._find_problem(lasting):
                fault.node.blame(f"it cannot recur: {problem}", "it lasts in the draft; write `recurrence` by hand")
                intent.questions.append(f"{answers.use} should come again and again; here it lasts")
                return lasting
        if problem:
            fault.node.blame(f"the draft would not pass lint: {problem}", "write this fault by hand")
            return None
        return answers

    def _find_problem(self, answers: Answers) -> str:
        """Find the first error of a draft with this fault alone; empty where there is none."""
        try:
            made = draft(answers, self.catalog)
        except AuthoringError as error:
            return _get_message(error)
        return self._find_error(made.text, answers.name)

    def _find_error(self, text: str, name: str) -> str:
        found = lint_text(text, Path(name, "scenario.yaml"), self.catalog)
        errors = [each.finding for each in found if each.finding.severity is Severity.ERROR]
        return f"{errors[0].code} {errors[0].message}" if errors else ""

    def _answer(self, intent: ScenarioIntent, name: str, fault: FaultIntent | None = None, target: str = "") -> Answers:
        answers = Answers(
            intent.app.name, intent.app.version, target, fault.fault if fault else "", name=name,
            author=self.author, outcome=intent.outcome if fault else "",
        )  # fmt: skip
        if fault is None:
            return answers
        start = {"afterSeconds": min(fault.start_seconds, LATEST_START)} if fault.start_seconds else {}
        return replace(
            answers, parameters=fault.parameters, use=_name_use(intent, fault), start=start,
            recurrence=fault.recurrence, replicas=fault.replicas,
        )  # fmt: skip

    def _keep(self, made: Draft, intent: ScenarioIntent, name: str) -> Draft | None:
        """Keep a draft that passes lint: as it is, or where several causes get in each other's way, without edges."""
        text = apply_edits(made.text, _describe(made, intent))
        problem = self._find_error(text, name)
        if problem and len(intent.faults) > 1 and made.spec.get("groundTruth", {}).get("propagation"):
            text = apply_edits(text, [Drop(("spec", "groundTruth", "propagation"))])
            intent.questions.append(
                "how does the trouble of several causes spread? `try --accept` draws what it observes"
            )
            problem = self._find_error(text, name)
        if problem:
            self._names.discard(name)
            intent.node.blame(f"the draft would not pass lint: {problem}", "import its faults one by one")
            return None
        asked = "".join(f"{format_question(each)}\n" for each in intent.questions)
        self.files.append(
            ImportedFile(
                name=name, path=f"{name}/scenario.yaml", text=asked + text, source=intent.node.position,
                questions=tuple(intent.questions),
            )
        )  # fmt: skip
        return made

    def _claim_name(self, text: str) -> str:
        """Return the name in kebab case, with a number where it is taken."""
        base = make_name(text)
        name, number = base, 2
        while name in self._names:
            name, number = f"{base[: LONGEST_NAME - 4].rstrip('-')}-{number}", number + 1
        self._names.add(name)
        return name


def _get_message(error: AuthoringError) -> str:
    return error.findings[0].message if error.findings else error.message


def make_name(text: str, empty: str = "imported") -> str:
    """Return a text as the name of a scenario: kebab case, not too long."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
    return re.sub(r"[^a-z0-9]+", "-", split.lower()).strip("-")[:LONGEST_NAME].strip("-") or empty


def _name_use(intent: ScenarioIntent, fault: FaultIntent) -> str:
    """Name a fault within its scenario: by its type, with a number from the second of a type on."""
    short = "-".join(fault.fault.split("-")[:3])
    same = [each for each in intent.faults if each.fault.split("-")[:3] == fault.fault.split("-")[:3]]
    return short if len(same) == 1 else f"{short}-{same.index(fault) + 1}"


def _describe(made: Draft, intent: ScenarioIntent) -> Sequence[Edit]:
    described = str(made.spec.get("description", ""))
    text = " ".join(part for part in (described, intent.description) if part)[:_DESCRIPTION]
    return [Put(("spec", "description"), text)] if text != described else []
