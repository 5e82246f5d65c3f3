"""``run``: a command in a store or queue, as a one-shot Job from a pinned client image of the app's definition.

Its effect is only undone by the ``undo`` of its fault. Its receipt goes from ``Recorded`` to ``Sent`` (the Job exists),
``Ran`` (it has ended, and how) and ``Done`` (it is removed).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, final

import msgspec

from scenario_kit.changes import jobs
from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import ClusterOperation
from scenario_kit.changes.receipts import Receipt, ReceiptEntry, ReceiptStore
from scenario_kit.errors import AuthoringError, InfrastructureError
from scenario_kit.model import App, Client, Object, Reference
from scenario_kit.model.kubernetes.difference import WrittenField
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.ports import Clock
from scenario_kit.render.templating.authoring_error import build_error


@final
class Run(ClusterOperation, frozen=True, kw_only=True):
    """Run a command of a client."""

    runs_command: ClassVar[bool] = True
    stateful: ClassVar[bool] = False
    predictable: ClassVar[bool] = False
    visible: ClassVar[bool] = False

    client: str
    command: list[str]

    @property
    def words(self) -> Sequence[str]:
        return self.command

    def name_client(self) -> str:
        return self.client

    def find_home(self, context: ChangeContext) -> str:
        return jobs.find_home(context, self.client)

    def record(self, context: ChangeContext, job: Reference) -> tuple[ReceiptEntry, ...]:
        return (ReceiptEntry(ref=job),)

    def send(self, context: ChangeContext) -> None:
        raise AuthoringError(f"the operation '{self.keyword}' takes several requests", fix="execute it with `perform`")

    def perform(self, context: ChangeContext, clock: Clock, store: ReceiptStore, receipt: Receipt) -> Receipt:
        entry = receipt.entries[0]
        ref = entry.ref
        if receipt.state == "Recorded":
            entry = msgspec.structs.replace(entry, uid=jobs.start(context, self.client, self.command, ref))
            receipt = store.save(msgspec.structs.replace(receipt, state="Sent", entries=(entry,)))
        if receipt.state == "Sent":
            ended = jobs.await_end(context, clock, ref, entry.uid, receipt.at + jobs.RUN_DEADLINE)
            # Save the result before deleting the Job, which holds it.
            failure = "" if ended.succeeded else ended.output or "its Job failed"
            receipt = store.save(msgspec.structs.replace(receipt, state="Ran", failure=failure))
        try:
            jobs.remove(context, clock, ref, entry.uid)
        except TimeoutError as error:
            raise InfrastructureError(str(error)) from error
        return store.save(msgspec.structs.replace(receipt, state="Done"))

    def has_arrived(self, context: ChangeContext, receipt: Receipt) -> bool:
        return True  # its Job may have started, so the deadline counts from the first attempt

    def undo(self, context: ChangeContext, receipt: Receipt, entry: ReceiptEntry, clock: Clock) -> None:
        jobs.remove(context, clock, entry.ref, entry.uid)

    def compensate(self, context: ChangeContext, clock: Clock, job: Reference) -> None:
        if jobs.is_store_gone(context, self.client):
            jobs.remove(context, clock, job)
            return
        found = context.cluster.get(job)
        if found is not None and is_terminating(found):
            jobs.remove(context, clock, job)
        uid = jobs.start(context, self.client, self.command, job)
        try:
            ended = jobs.await_end(context, clock, job, uid, clock.now() + jobs.RUN_DEADLINE)
        except InfrastructureError:
            jobs.remove(context, clock, job)
            raise
        jobs.remove(context, clock, job)
        if not ended.succeeded:
            raise AuthoringError(f"the command of client '{self.client}' failed with {ended.output or 'no message'}")

    def describe(self, context: ChangeContext) -> str:
        client = context.app.client(self.client)
        component = context.app.component(client.store) if client else None
        return component.workload if component else self.client

    def explain(self, receipt: Receipt) -> AuthoringError:
        return AuthoringError(
            f"the command of client '{self.client}' of {receipt.group} failed with {receipt.failure}: "
            f"{' '.join(self.command)}",
            fix="correct the command, or run it in a cluster in which the store is reachable",
        )

    def check_command(self, app: App, where: str, *, simulated: bool) -> None:
        client = self._find_client(app, where)
        if simulated and client.matched(self.command) is None:
            raise build_error(
                "SK121",
                f"{where}: the app's definition does not list this command of client '{client.name}'",
                observed=" ".join(self.command),
                expected=" | ".join(" ".join(c.command) for c in client.commands),
                why="a simulated store only executes commands that the app's definition models",
                fix="add `real-data-plane` to `requires`, or the command and what it does to the app's definition",
            )

    def _find_client(self, app: App, where: str) -> Client:
        client = app.client(self.client)
        if client is None:
            known = [c.name for c in app.clients]
            raise build_error(
                "SK120",
                f"{where}: {app.name} {app.version} has no client '{self.client}'",
                expected=" | ".join(known) or "an app with clients",
                fix=did_you_mean(self.client, known),
            )
        return client

    def simulate(self, objects: Sequence[Object], app: App, namespace: str) -> tuple[Object, ...]:
        self._find_client(app, self.keyword)
        return tuple(objects)

    def list_fields(self, objects: Sequence[Object], app: App) -> Iterable[WrittenField]:
        # Its writes are unknown, but the same command writes the same.
        return [WrittenField(Reference("Job", self.client), (" ".join(self.command),))]

    def outlasts(self, persistence: str) -> bool:
        return False  # it may, but only a trial can show that
