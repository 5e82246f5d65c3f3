"""Write drafts from the faults that an importer found. Each draft passes lint, or is refused with the reason."""

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
from scenario_kit.model import App, Reference, Severity
from scenario_kit.model.authored.scenario import Outcome

#: Maximum number of faults in a scenario.
MAX_FAULTS: Final = 16
#: Maximum start of a fault, in seconds after the app became quiet.
MAX_START_SECONDS: Final = 7200
_DESCRIPTION: Final = 4000


@dataclass(frozen=True, slots=True)
class FaultIntent:
    """A fault of a draft: ``entity`` is a component's name or an object's reference.

    ``node`` is the part of the input that it comes from. ``start_seconds`` is its start after the app became quiet,
    ``replicas`` the number of affected pods, None for all.
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
    """A scenario to draft: ``name`` as in the input, ``node`` is the part of the input that it comes from.

    ``questions`` are open decisions for the author. Without faults, the scenario has no incident.
    """

    name: str
    app: App
    node: InputNode
    faults: list[FaultIntent] = field(default_factory=list)
    description: str = ""
    questions: list[str] = field(default_factory=list)
    outcome: Outcome | Literal[""] = ""


class DraftWriter:
    """Writes the drafts of one import under unique names."""

    def __init__(self, catalog: Catalog, author: str = "") -> None:
        self.catalog, self.author = catalog, author
        self.files: list[ImportedFile] = []
        self._names: set[str] = set()

    def write(self, intent: ScenarioIntent) -> Draft | None:
        """Write one draft. If it cannot be drafted, report that at its source and return None."""
        name = self._reserve_name(intent.name)
        for fault in intent.faults[MAX_FAULTS:]:
            fault.node.report_refusal(
                f"a scenario has at most {MAX_FAULTS} faults", "write a second scenario for the others"
            )
        aimed = [(f, answers) for f in intent.faults[:MAX_FAULTS] if (answers := self._aim_fault(intent, f, name))]
        made = self._join_faults(intent, aimed, name)
        if made is not None and self._find_error(made.text, name):
            settled = [(f, answers) for f, each in aimed if (answers := self._find_lintable_answers(intent, f, each))]
            made = self._join_faults(intent, settled, name)
        if made is None:
            self._names.discard(name)
            return None
        return self._add_file(made, intent, name)

    def _join_faults(
        self, intent: ScenarioIntent, aimed: Sequence[tuple[FaultIntent, Answers]], name: str
    ) -> Draft | None:
        """Join the faults into one draft; None if none of them can be drafted."""
        drafts = []
        for fault, answers in aimed:
            try:
                drafts.append(draft(answers, self.catalog))
            except AuthoringError as error:
                fault.node.report_refusal(error.first_message, error.fix or "write this fault by hand")
        if not drafts and intent.faults:
            return None
        return join_drafts(drafts or [draft(self._build_answers(intent, name), self.catalog)])

    def _aim_fault(self, intent: ScenarioIntent, fault: FaultIntent, name: str) -> Answers | None:
        """Aim a fault at the first applicable object of its entity; report it and return None if there is none."""
        aimed = aim_fault(fault.fault, fault.entity, intent.app, self.catalog, fault.parameters)
        if not aimed.offers:
            why = aimed.why or f"{fault.fault} is not applicable to {fault.entity}"
            fault.node.report_refusal(why, aimed.fix or "aim the fault at another object, or choose another fault")
            return None
        return self._build_answers(intent, name, fault, aimed.offers[0].target)

    def _find_lintable_answers(self, intent: ScenarioIntent, fault: FaultIntent, answers: Answers) -> Answers | None:
        """Return answers with which the fault alone passes lint, if necessary without recurrence or one parameter."""
        problem = self._find_problem(answers)
        if problem and answers.recurrence:
            lasting = replace(answers, recurrence={})
            if not self._find_problem(lasting):
                fault.node.report_refusal(
                    f"it cannot recur: {problem}", "the draft's fault is permanent; write `recurrence` by hand"
                )
                intent.questions.append(
                    f"{answers.use} recurs in the source but is permanent in this draft; should it recur?"
                )
                return lasting
        if not problem:
            return answers
        for name in answers.parameters:
            fewer = replace(answers, parameters={key: each for key, each in answers.parameters.items() if key != name})
            if not self._find_problem(fewer):
                fault.node.report_refusal(
                    f"`parameters.{name}` would not pass lint: {problem}", "the draft uses its default; choose another"
                )
                return fewer
        fault.node.report_refusal(f"the draft would not pass lint: {problem}", "write this fault by hand")
        return None

    def _find_problem(self, answers: Answers) -> str:
        """Return the first error of a draft with this fault alone, or empty."""
        try:
            made = draft(answers, self.catalog)
        except AuthoringError as error:
            return error.first_message
        return self._find_error(made.text, answers.name)

    def _find_error(self, text: str, name: str) -> str:
        found = lint_text(text, Path(name, "scenario.yaml"), self.catalog)
        errors = [each.finding for each in found if each.finding.severity is Severity.ERROR]
        return f"{errors[0].code} {errors[0].message}" if errors else ""

    def _build_answers(
        self, intent: ScenarioIntent, name: str, fault: FaultIntent | None = None, target: Reference | None = None
    ) -> Answers:
        answers = Answers(
            intent.app.name, intent.app.version, target, fault.fault if fault else "", name=name,
            author=self.author, outcome=intent.outcome if fault else "",
        )  # fmt: skip
        if fault is None:
            return answers
        start = {"afterSeconds": min(fault.start_seconds, MAX_START_SECONDS)} if fault.start_seconds else {}
        return replace(
            answers, parameters=fault.parameters, use=_name_use(intent, fault), start=start,
            recurrence=fault.recurrence, replicas=fault.replicas,
        )  # fmt: skip

    def _add_file(self, made: Draft, intent: ScenarioIntent, name: str) -> Draft | None:
        """Add the draft if it passes lint, if necessary without the propagation edges of several faults."""
        text = apply_edits(made.text, _describe_draft(made, intent))
        problem = self._find_error(text, name)
        if problem and len(intent.faults) > 1 and made.spec.get("groundTruth", {}).get("propagation"):
            text = apply_edits(text, [Drop(("spec", "groundTruth", "propagation"))])
            intent.questions.append(
                "how do the symptoms of several causes propagate? `try --accept` records the observed propagation"
            )
            problem = self._find_error(text, name)
        if problem:
            self._names.discard(name)
            intent.node.report_refusal(f"the draft would not pass lint: {problem}", "import its faults one by one")
            return None
        comments = "".join(f"{format_question(each)}\n" for each in intent.questions)
        self.files.append(
            ImportedFile(
                name=name, path=f"{name}/scenario.yaml", text=comments + text, source=intent.node.position,
                questions=tuple(intent.questions),
            )
        )  # fmt: skip
        return made

    def _reserve_name(self, text: str) -> str:
        """Return a unique name in kebab case; a number distinguishes repeated names."""
        base = make_name(text)
        name, number = base, 2
        while name in self._names:
            name, number = f"{base[: LONGEST_NAME - 4].rstrip('-')}-{number}", number + 1
        self._names.add(name)
        return name


def make_name(text: str) -> str:
    """Return the name of a scenario in kebab case, limited to ``LONGEST_NAME`` characters."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
    return re.sub(r"[^a-z0-9]+", "-", split.lower()).strip("-")[:LONGEST_NAME].strip("-") or "imported"


def _name_use(intent: ScenarioIntent, fault: FaultIntent) -> str:
    """Name a fault within its scenario by its type, numbered if the type occurs several times."""
    short = "-".join(fault.fault.split("-")[:3])
    same = [each for each in intent.faults if each.fault.split("-")[:3] == fault.fault.split("-")[:3]]
    return short if len(same) == 1 else f"{short}-{same.index(fault) + 1}"


def _describe_draft(made: Draft, intent: ScenarioIntent) -> Sequence[Edit]:
    described = str(made.spec.get("description", ""))
    text = " ".join(part for part in (described, intent.description) if part)[:_DESCRIPTION]
    return [Put(("spec", "description"), text)] if text != described else []
