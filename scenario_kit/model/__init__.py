"""The nouns: frozen values that travel between the verbs. No module here does I/O or knows a library of the cluster."""

from scenario_kit.model.alert_rule import AlertRule, EntityLabel, Windows
from scenario_kit.model.app import App, CallEdge, Component, FlagStore, LoadProfile
from scenario_kit.model.base import Object, Value
from scenario_kit.model.change import Change
from scenario_kit.model.chaos_effects import ContainerEffect, Ledger, NetworkEffect
from scenario_kit.model.check import Check
from scenario_kit.model.client import Client, ClientCommand, StoreEffect
from scenario_kit.model.fault import Entity, Fault, FaultType, PolicyException
from scenario_kit.model.finding import Finding, Position, Severity
from scenario_kit.model.observation import AlertHistory, AlertTimeline, Answer, CheckResult, Interval
from scenario_kit.model.reference import APP_NAMESPACE, Reference
from scenario_kit.model.scenario import AlertExpectation, Decoy, Scenario, ScenarioSpec, Solution
from scenario_kit.model.trial import Procedure, Runbook, StepStatus, TrialOutcome, TrialSpec, TrialStep
from scenario_kit.model.verdict import Verdict

__all__ = [
    "APP_NAMESPACE", "AlertExpectation", "AlertHistory", "AlertRule", "AlertTimeline", "Answer", "App", "CallEdge",
    "Change", "Check", "CheckResult", "Client", "ClientCommand", "Component", "ContainerEffect", "Decoy", "Entity",
    "EntityLabel", "Fault", "FaultType", "Finding", "FlagStore", "Interval", "Ledger", "LoadProfile", "NetworkEffect",
    "Object", "PolicyException", "Position", "Procedure", "Reference", "Runbook", "Scenario", "ScenarioSpec",
    "Severity", "Solution", "TrialStep", "StepStatus", "StoreEffect", "TrialOutcome", "TrialSpec", "Value", "Verdict",
    "Windows",
]  # fmt: skip
