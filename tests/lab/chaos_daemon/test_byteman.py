"""Byteman scripts in the chaos daemon: those of the manager, and others."""

from typing import Any

import pytest

from scenario_kit.lab.chaos_daemon.byteman import parse_rules
from scenario_kit.lab.chaos_daemon.network import NotSimulated

# As the manager writes them (controllers/chaosimpl/jvmchaos), for actions with and without a helper.
_SIMPLE = "\nRULE test\nCLASS testClass\nMETHOD testMethod\nAT ENTRY\nIF true\nDO\n\t{do};\nENDRULE\n"
_HELPED = (
    "\nRULE test\nCLASS org.chaos_mesh.chaos_agent.TriggerThread\nMETHOD triggerFunc\n"
    "HELPER org.chaos_mesh.byteman.helper.{helper}\nAT ENTRY\nBIND flag:boolean=true;\nIF true\nDO\n\t{do};\nENDRULE\n"
)


def _one(script: str) -> dict[str, Any]:
    (rule,) = parse_rules(script)
    return rule


@pytest.mark.parametrize(
    ("do", "actions"),
    [
        ("Thread.sleep(5000)", [{"sleepSeconds": 5.0}]),
        ("delay(50)", [{"sleepSeconds": 0.05}]),
        (
            'throw new java.lang.IllegalStateException("a; \\"b\\"")',
            [{"throws": 'java.lang.IllegalStateException: a; \\"b\\"'}],
        ),
        ("throw new NullPointerException()", [{"throws": "java.lang.NullPointerException"}]),
        ('throw new java.io.IOException("BOOM")', []),  # the method would have to declare it
        ('return "9999"', [{"returns": '"9999"'}]),
        ("return null", [{"returns": "null"}]),
        ("return", [{"returns": ""}]),
        ("delay(10); return 1; delay(20)", [{"sleepSeconds": 0.01}, {"returns": "1"}]),
        ("NOTHING", []),
    ],
)
def test_actions(do: str, actions: list[dict[str, Any]]) -> None:
    assert _one(_SIMPLE.format(do=do)) == {
        "name": "test",
        "class": "testClass",
        "method": "testMethod",
        "actions": actions,
    }


@pytest.mark.parametrize(
    ("helper", "do", "action"),
    [
        ("StressHelper", 'injectCPUStress("test", 3)', {"threads": 3}),
        ("StressHelper", 'injectMemStress("test", "heap")', {"fills": "heap"}),
        ("GCHelper", "gc()", {"collects": True}),
    ],
)
def test_helpers(helper: str, do: str, action: dict[str, Any]) -> None:
    rule = _one(_HELPED.format(helper=helper, do=do))
    assert (rule["class"], rule["method"]) == ("org.chaos_mesh.chaos_agent.TriggerThread", "triggerFunc")
    assert rule["actions"] == [action]


def test_byteman_script_with_comments_and_false_condition() -> None:
    never = _SIMPLE.format(do="return 1").replace("IF true", "IF FALSE").replace("test\n", "never\n", 1)
    found = parse_rules("# what for\n" + _SIMPLE.format(do="delay(1)") + never)
    assert [(rule["name"], len(rule["actions"])) for rule in found] == [("test", 1), ("never", 0)]


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ("AT ENTRY", "AT EXIT", "AT ENTRY"),
        ("AT ENTRY", "AFTER WRITE x", "AT ENTRY"),
        ("CLASS testClass", "INTERFACE testClass", "implement"),
        ("CLASS testClass", "CLASS ^testClass", "implement"),
        ("testMethod", "testMethod(int)", "omit the parameters"),
        ("IF true", "IF $1 > 3", "the condition"),
        ("AT ENTRY", "HELPER my.Helper\nAT ENTRY", "my.Helper"),
        ("AT ENTRY", "HELPER org.chaos_mesh.byteman.helper.SQLHelper\nAT ENTRY", "SQLHelper"),
        ("delay(1)", 'traceln("x")', "traceln"),
        ("delay(1)", "gc()", "gc()"),  # of a helper that the rule does not name
        ("delay(1)", 'throw new org.my.Failure("x")', "org.my.Failure"),
        ("delay(1)", "throw new java.lang.IllegalStateException($1)", "throw new"),
    ],
)
def test_unsupported_input_is_refused(old: str, new: str, reported: str) -> None:
    script = _SIMPLE.format(do="delay(1)")
    assert old in script
    with pytest.raises(NotSimulated, match="not simulated") as refused:
        parse_rules(script.replace(old, new))
    assert reported in str(refused.value)


def test_stacks_are_refused() -> None:
    with pytest.raises(NotSimulated, match="threads"):
        parse_rules(_HELPED.format(helper="StressHelper", do='injectMemStress("test", "stack")'))


@pytest.mark.parametrize(
    "script",
    [
        "",
        "CLASS x",
        "anything",
        "RULE a\nCLASS x\nMETHOD m\nIF true\nDO delay(1)",
        "RULE a\nRULE b\nENDRULE",
        "RULE a\nMETHOD m\nIF true\nDO delay(1)\nENDRULE",
        "RULE a\nCLASS x\nIF true\nDO delay(1)\nENDRULE",
        "RULE a\nCLASS x\nMETHOD m\nDO delay(1)\nENDRULE",
        "RULE a\nCLASS x\nMETHOD m\nIF true\nENDRULE",
    ],
)
def test_invalid_script_is_refused(script: str) -> None:
    with pytest.raises(ValueError, match=r"rule|RULE") as refused:
        parse_rules(script)
    assert not isinstance(refused.value, NotSimulated)
