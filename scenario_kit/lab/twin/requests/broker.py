"""Brokers and consumer groups: records wait in topics until a group's member processes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from scenario_kit.lab.twin.call_tree.spans import SpanMetrics
from scenario_kit.lab.twin.call_tree.topic_order import order_topics
from scenario_kit.lab.twin.call_tree.tree import CallNode, ConsumerNode
from scenario_kit.lab.twin.network import network_io
from scenario_kit.lab.twin.network.connections import Link, LinkKey
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, compute_sequence
from scenario_kit.lab.twin.numeric.batches import REQUEST
from scenario_kit.lab.twin.numeric.schedule_change import ScheduleChange
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.lab.twin.process.in_flight_records import BrokerTopic, Sent, Transit
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.lab.twin.process.process_table import ProcessTable
from scenario_kit.lab.twin.requests.producer import Published
from scenario_kit.lab.twin.requests.request_executor import Flow
from scenario_kit.lab.twin.traces.span_buffer import SpanBatch
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.runtime.process import SeriesId
from scenario_kit.model.twin.definition import TwinDefinition
from scenario_kit.model.twin.queue import QueueModel

#: Seconds per record from which the batch size of a member matters.
_SLOW = 0.1
#: The maximum number of polls of a slow member per tick.
_POLLS = 200
_CLOSE_SECONDS = 60.0
_CLOSE_RATE = 0.2


@dataclass(slots=True)
class _Group:
    """The state of a consumer group. ``position`` counts fetched records, ``committed`` those never delivered again.

    ``under_way`` are the completion times and requests of those in between, ``seen`` the number ever fetched and stored
    in the ``store``. Of the records of the last poll, at ``polled_at``, ``left`` wait in the member.
    """

    position: int = 0
    committed: int = 0
    seen: int = 0
    store: ProcessKey | None = None
    left: int = 0
    polled_at: float = 0.0
    free_at: float = 0.0
    under_way: Floats = field(default_factory=lambda: np.zeros((2, 0)))
    worker: ProcessKey | None = None
    joined_at: float = 0.0
    busy_until: float = 0.0
    stuck_on: LinkKey | None = None
    mean: float = 0.005

    def reschedule(self, change: ScheduleChange) -> None:
        """Let records be done at their new times, and those after them as much sooner or later."""
        planned, requests = self.under_way
        if not planned.size:
            return
        done = planned + np.cumsum(change.apply(requests, planned) - planned)
        self.under_way = np.vstack([done, requests])
        if self.busy_until == planned[-1]:
            self.busy_until = self.free_at = float(done[-1])


@dataclass(slots=True)
class _Broker:
    """The content of a broker process; without a volume, a restart starts empty.

    By topic, ``ends`` counts records and ``copies`` has a byte for each: whether it is a duplicate.
    """

    ends: dict[str, int] = field(default_factory=dict)
    copies: dict[str, bytearray] = field(default_factory=dict)
    groups: dict[str, _Group] = field(default_factory=dict)


class _ServingBroker(NamedTuple):
    """A broker process during a tick: its model, its content, and the number of records of the topic before."""

    model: QueueModel
    process: Process
    holds: _Broker
    before: int


class _Member(NamedTuple):
    """The active member of a consumer group."""

    node: ConsumerNode
    group: _Group
    worker: Process


class Queues:
    """All brokers of a world."""

    def __init__(self, parameters: TwinDefinition, consumers: tuple[ConsumerNode, ...], spans: SpanMetrics) -> None:
        self._models = parameters.queues
        self._message_bytes = parameters.constants.message_bytes
        self._edges = parameters.edges
        self._consumers = consumers
        self._spans = spans
        self._brokers: dict[ProcessKey, _Broker] = {}
        self._seen: dict[tuple[ProcessKey, str], float] = {}
        self._closed: dict[ProcessKey, float] = {}
        self._topics = order_topics(self._models, consumers)
        self._models_by_name = {model.component: model for model in self._models}
        self._transit: dict[BrokerTopic, Transit[bool]] = {}
        self._unread: dict[BrokerTopic, list[Published]] = {}

    def run(self, process_table: ProcessTable, flow: Flow) -> None:
        """Append the records published during the tick, and run the consumers.

        What consumers publish reaches the topics after theirs in the same tick, and others in the next one.
        """
        self._brokers = {
            p.key: self._brokers.get(p.key) or _Broker() for m in self._models for p in process_table.of(m.component)
        }
        published, read = flow.publishing.records, dict[BrokerTopic, int]()
        self._transit = {place: late for place, late in self._transit.items() if place[0] in self._brokers}
        for component, topic in self._topics:
            for process in process_table.of(component):
                place, broker = (process.key, topic), self._brokers[process.key]
                read[place] = len(published.get(place, ()))
                come = self._take_arrivals(place, published.get(place, ()), flow.moment.end)
                serving = _ServingBroker(self._models_by_name[component], process, broker, broker.ends.get(topic, 0))
                broker.ends[topic] = serving.before + len(come)
                broker.copies.setdefault(topic, bytearray()).extend(record.what for record in come)
                new = np.array([record.time for record in come])
                for node in self._consumers:
                    if (node.model.queue, node.model.topic) == (component, topic):
                        self._consume(node, serving, new, process_table, flow)
        self._unread = {place: batches[read.get(place, 0) :] for place, batches in published.items()}

    def reschedule(self, change: ScheduleChange) -> None:
        """Let records arrive, and be processed, at the new times of their requests."""
        for transit in self._transit.values():
            transit.reschedule(change)
        self._unread = {place: [each.reschedule(change) for each in late] for place, late in self._unread.items()}
        for broker in self._brokers.values():
            for group in broker.groups.values():
                group.reschedule(change)

    def _take_arrivals(self, place: BrokerTopic, published: Iterable[Published], end: float) -> list[Sent[bool]]:
        """Return the records that reach a topic by the end of the tick, and whether each is a duplicate."""
        sent = []
        for times, many, requests in (*self._unread.get(place, ()), *published):
            known = np.full(times.size, -1.0) if requests is None else requests
            for time, request in zip(times.tolist(), known.tolist(), strict=True):
                sent += [Sent(time, number > 0, request) for number in range(many)]
        return self._transit.setdefault(place, Transit()).arrived({place: sent}, end)[place]

    def _consume(
        self, node: ConsumerNode, serving: _ServingBroker, new: Floats, process_table: ProcessTable, flow: Flow
    ) -> None:
        model, process, broker, before = serving
        start, end, links = flow.moment.start, flow.moment.end, flow.moment.links
        topic, name = node.model.topic, node.model.group
        group = broker.groups.get(name)
        if group is None:
            first = broker.ends[topic] if node.model.start_at_latest else 0
            group = broker.groups[name] = _Group(position=first, committed=first)
        worker = self._worker(node, process, process_table, links, start)
        if worker is None:
            group.worker = None
            return
        if group.worker != worker.key:
            group.worker, group.stuck_on = worker.key, None
            group.position, group.under_way, group.left = group.committed, np.zeros((2, 0)), 0
            group.joined_at = max(start, worker.ready_at, process.ready_at) + model.rejoin_seconds
            group.busy_until, group.free_at = 0.0, group.joined_at
        self._commit(node, group, end)
        if group.stuck_on is not None and (link := links.get(group.stuck_on)) is not None and link.hangs:
            return
        if group.stuck_on is not None:
            group.stuck_on, group.busy_until, group.committed = None, start, group.position
        flags = flow.moment.effects.get(worker.key, ())
        known = sum(e.delay_seconds for e in flags if e.operation in ("", node.operation.name))
        each = max(group.mean, known, 1e-4)
        polls = node.model.max_poll_records > 0 and (group.left > 0 or each > _SLOW)
        for salt in range(_POLLS if polls else 1):
            begin = max(start, group.joined_at, group.busy_until)
            pending = broker.ends[topic] - group.position
            if begin >= end or pending <= 0:
                return
            old = max(before - group.position, 0)
            arrived = np.concatenate([np.full(old, begin), new])[-pending:]
            if polls:
                arrived = self._poll(node, group, arrived, begin)
            arrived = arrived[: max(1, int((end - begin) / each))]
            network_io.send(process, worker, arrived.size, self._message_bytes)
            if not self._work(_Member(node, group, worker), serving, np.maximum(arrived, begin), flow, salt):
                return
            if polls and not group.left and group.busy_until - group.polled_at > node.model.max_poll_interval_seconds:
                group.position, group.under_way = group.committed, np.zeros((2, 0))
                group.joined_at = group.busy_until + model.rejoin_seconds
        if not polls:
            self._commit(node, group, end)

    @staticmethod
    def _poll(node: ConsumerNode, group: _Group, arrived: Floats, begin: float) -> Floats:
        """Return the records in the member's hands, of those that have arrived or will in this tick."""
        if not group.left:
            group.polled_at = max(begin, float(arrived[0]))
            available = int(np.searchsorted(arrived, group.polled_at, side="right"))
            group.left = min(available, node.model.max_poll_records)
            group.committed, group.under_way = group.position, np.zeros((2, 0))
        return arrived[: group.left]

    def _work(self, member: _Member, serving: _ServingBroker, at: Floats, flow: Flow, salt: int) -> bool:
        """Process records in sequence, the last one possibly into the next tick; False if one hangs."""
        node, group, worker = member
        place, copies = (serving.process.key, node.model.topic), serving.holds.copies[node.model.topic]
        _meet_store(node, group, worker, flow.moment.links)
        again = np.arange(group.position, group.position + at.size) < group.seen
        copy = np.frombuffer(copies[group.position : group.position + at.size], dtype=np.bool_) & ~again
        if node.model.retry_refused_writes:
            again = _find_refused(worker, again, copy)
        draws = {
            REQUEST: flow.span_buffer.begin(node.operation.key, worker.ordinal, at.size, place, group.position),
            **{name: kind.astype(np.float64) for name, kind in classify_records(again, copy).items()},
        }
        around, mark = flow.span_buffer.enter(node.loop), flow.span_buffer.enter(node.receive)
        took = flow.serve(worker, node.operation, salt, at, draws).took
        if node.model.duplicate_log and copy.any():
            flow.logs.error(worker, node.model.duplicate_log, (at + took)[copy], node.model.duplicate_log)
        if node.receive is not None:
            receive, failed = np.full(at.size, node.model.receive_ms / 1000.0), np.zeros(at.size, dtype=bool)
            flow.span_buffer.leave(mark, worker, (node.receive,), node, None, SpanBatch.of(draws, at, receive, failed))
            if worker.exports:
                self._spans.record(node.receive, at + receive, receive, failed, draws[REQUEST])
        known = np.isfinite(took)
        done = at.size if known.all() else int(np.argmin(known))
        finish = compute_sequence(at[:done], took[:done])
        if node.loop is not None and done:
            began = np.concatenate([[min(group.free_at, float(at[0]))], finish[:-1]])
            whole, failed = np.arange(at.size) < done, np.zeros(done, dtype=bool)
            rounds = SpanBatch.of(draws, began, finish - began, failed, whole)
            flow.span_buffer.leave(around, worker, (node.loop,), node, None, rounds)
            if worker.exports:
                self._spans.record(node.loop, finish, finish - began, failed, draws[REQUEST][:done])
        group.under_way = np.hstack([group.under_way, [finish, draws[REQUEST][:done]]])
        group.position += done
        group.left = max(group.left - done, 0)
        if done:
            group.busy_until = group.free_at = float(finish[-1])
            group.mean += 0.5 * (float(took[:done].mean()) - group.mean)
        if done < at.size:
            group.position += 1
            group.stuck_on = flow.hanging
        if not worker.keeps:
            group.seen = max(group.seen, group.position)
        return group.stuck_on is None

    @staticmethod
    def _commit(node: ConsumerNode, group: _Group, end: float) -> None:
        """Commit the progress of half a commit interval ago; not while records are in hand."""
        if group.left:
            return
        done = int(np.count_nonzero(group.under_way[0] <= end - node.model.commit_interval_seconds / 2.0))
        group.committed += done
        group.under_way = group.under_way[:, done:]

    def _worker(
        self,
        node: ConsumerNode,
        broker: Process,
        process_table: ProcessTable,
        links: Mapping[LinkKey, Link],
        start: float,
    ) -> Process | None:
        """Return the member with the partition: the oldest one connected to this broker."""
        connected = None
        for process in process_table.of(node.component):
            link = links.get(LinkKey(process.key, self._edge(node)))
            if (
                link is not None
                and link.works
                and link.lanes[0].target is broker
                and process.ready_at < start + GRID_SECONDS
            ):
                self._seen[process.key, node.model.group] = start
                connected = connected or process
            elif (process.key, node.model.group) in self._seen:
                self._closed.setdefault(process.key, start)
            if link is not None and link.works and self._closed.get(process.key, start) < start - _CLOSE_SECONDS:
                del self._closed[process.key]
        return connected

    def _edge(self, node: ConsumerNode) -> int:
        desired = (node.component, node.model.queue)
        return next(n for n, e in enumerate(self._edges) if (e.caller, e.callee) == desired)

    def samples(
        self, model: QueueModel, process: Process, process_table: ProcessTable, namespace: str, end: float
    ) -> dict[SeriesId, float]:
        """Return the series of the collector's receiver for a broker that it reaches."""
        broker = self._brokers.get(process.key)
        if broker is None:
            return {}
        result: dict[SeriesId, float] = {
            _make_series_id(namespace, "kafka_brokers"): float(len(process_table.of(model.component)))
        }
        for topic in model.topics:
            place = {"topic": topic, "partition": "0"}
            result[_make_series_id(namespace, "kafka_topic_partitions", topic=topic)] = 1.0
            result[_make_series_id(namespace, "kafka_partition_current_offset_ratio", **place)] = float(
                broker.ends.get(topic, 0)
            )
            result[_make_series_id(namespace, "kafka_partition_oldest_offset_ratio", **place)] = 0.0
            for replicas in ("kafka_partition_replicas", "kafka_partition_replicas_in_sync"):
                result[_make_series_id(namespace, replicas, **place)] = 1.0  # topics of the app are not replicated
        for node in self._consumers:
            group = broker.groups.get(node.model.group)
            if node.model.queue != model.component or group is None:
                continue
            lag = float(broker.ends.get(node.model.topic, 0) - group.committed)
            names = {"group": node.model.group, "topic": node.model.topic}
            result[_make_series_id(namespace, "kafka_consumer_group_members", group=node.model.group)] = self._members(
                node, model, group, process_table, end
            )
            result[_make_series_id(namespace, "kafka_consumer_group_lag_sum_ratio", **names)] = lag
            result[_make_series_id(namespace, "kafka_consumer_group_lag_ratio", **names, partition="0")] = lag
            result[_make_series_id(namespace, "kafka_consumer_group_offset_sum_ratio", **names)] = float(
                group.committed
            )
            result[_make_series_id(namespace, "kafka_consumer_group_offset_ratio", **names, partition="0")] = float(
                group.committed
            )
        return result

    def client_samples(self, process_table: ProcessTable, namespace: str, end: float) -> dict[SeriesId, float]:
        """Return the series of consumers with client metrics."""
        result: dict[SeriesId, float] = {}
        for node in self._consumers:
            for process in process_table.of(node.component) if node.model.client_metrics else ():
                if process.exports and process.ready_at <= end:
                    closing = end - self._closed.get(process.key, -_CLOSE_SECONDS * 2) <= _CLOSE_SECONDS
                    job = f"{namespace}/{node.component}"
                    result[_make_series_id(namespace, "kafka_consumer_connection_close_rate", job=job)] = (
                        _CLOSE_RATE if closing else 0.0
                    )
        return result

    def forget(self, process_table: ProcessTable) -> None:
        """Drop the state of ended processes."""
        self._seen = {key: at for key, at in self._seen.items() if process_table.get(key[0]) is not None}
        self._closed = {key: at for key, at in self._closed.items() if process_table.get(key) is not None}

    def _members(
        self, node: ConsumerNode, model: QueueModel, group: _Group, process_table: ProcessTable, end: float
    ) -> float:
        if group.left and end - group.polled_at > node.model.max_poll_interval_seconds:
            return 0.0  # it left the group because it was too slow
        seen = (self._seen.get((p.key, node.model.group), -1e18) for p in process_table.of(node.component))
        return float(sum(end - at <= model.session_timeout_seconds for at in seen))


def _meet_store(node: ConsumerNode, group: _Group, worker: Process, links: Mapping[LinkKey, Link]) -> None:
    """Track the store; a replaced one has no records and rejects none."""
    for step in node.operation.steps:
        if isinstance(step, CallNode) and step.operation.model.always_fail:
            link = links.get(LinkKey(worker.key, step.edge))
            store = (
                next((lane.target for lane in link.lanes if lane.outcome == ConnectionOutcome.OK and lane.target), None)
                if link
                else None
            )
            if store is not None and group.store not in (None, store.key):
                group.seen, worker.keeps = group.position, False
            group.store = store.key if store is not None else group.store
            return


def _find_refused(worker: Process, again: Flags, copy: Flags) -> Flags:
    """Return the records rejected because a member requests all earlier rejected ones once more."""
    again = np.logical_or.accumulate(again) | worker.keeps
    worker.keeps |= bool(again.any())
    return again & ~copy


def classify_records(again: Flags, copy: Flags) -> dict[str, Flags]:
    """Classify records by the conditions of consumer steps: redelivered, a duplicate, or neither."""
    return {"again": again, "copy": copy, "original": ~again & ~copy}


def _make_series_id(namespace: str, metric: str, **labels: str) -> SeriesId:
    return metric, tuple(sorted({**labels, "namespace": namespace}.items()))
