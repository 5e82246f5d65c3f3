"""The order of topics in which records of a consumer reach the topics that it publishes to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scenario_kit.lab.twin.call_tree.tree import CallNode, ConsumerNode, LoopNode, OperationNode
from scenario_kit.model.twin.queue import QueueModel

#: The component of a broker, and a topic.
Topic = tuple[str, str]


def order_topics(models: Iterable[QueueModel], consumers: Sequence[ConsumerNode]) -> tuple[Topic, ...]:
    """Order topics so that those whose consumers publish precede those to which they publish.

    Topics in a circle, such as one for retries, are in the order of the definition.
    """
    topics = [(model.component, topic) for model in models for topic in model.topics]
    links = [((c.model.queue, c.model.topic), set(list_published(c.operation))) for c in consumers]
    depth = dict.fromkeys(topics, 0)
    for _ in topics:
        for source, targets in links:
            for target in (targets - {source}) & depth.keys():
                depth[target] = min(max(depth[target], depth.get(source, 0) + 1), len(topics))
    return tuple(sorted(topics, key=depth.__getitem__))


def list_published(operation: OperationNode) -> Iterator[Topic]:
    """Yield the topics to which an operation publishes, itself or through its callees."""
    if operation.model.topic:
        yield operation.component, operation.model.topic
    for other in operation.others:
        yield from list_published(other)
    yield from _list_below(operation.steps)


def _list_below(steps: Iterable[CallNode | LoopNode]) -> Iterator[Topic]:
    for step in steps:
        if isinstance(step, LoopNode):
            yield from _list_below(step.steps)
        else:
            yield from list_published(step.operation)
            yield from _list_below(step.missing)
