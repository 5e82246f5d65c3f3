"""Proposals of close names."""

from scenario_kit.render.templating.authoring_error import did_you_mean


def test_name_that_several_objects_have_is_proposed_once() -> None:
    assert did_you_mean("rabitmq", ["rabbitmq", "rabbitmq", "web"]) == "did you mean rabbitmq?"
