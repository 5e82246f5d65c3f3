"""Immutable values shared by all packages. Nothing here does I/O or imports a cluster library."""

from scenario_kit.model.authored.alert_rule import AlertRule, EntityLabel, Windows
from scenario_kit.model.authored.app import App, CallEdge, Component, FlagStore, LoadProfile
from scenario_kit.model.authored.change import Change
from scenario_kit.model.authored.check import Check
from scenario_kit.model.authored.fault import Entity, Fault, FaultType, PolicyException
from scenario_kit.model.authored.scenario import AlertExpectation, Decoy, Scenario, ScenarioSpec, Solution
from scenario_kit.model.base import Object, Value
from scenario_kit.model.chaos.effects import ContainerEffect, Ledger, NetworkEffect
from scenario_kit.model.kubernetes.reference import APP_NAMESPACE, Reference
from scenario_kit.model.results.finding import Finding, Position, Severity
from scenario_kit.model.results.trial import Procedure, Runbook, StepStatus, TrialSpec, TrialStep
from scenario_kit.model.results.verdict import Verdict
from scenario_kit.model.runtime.client import Client, ClientCommand, StoreEffect
from scenario_kit.model.runtime.observation import AlertHistory, AlertTimeline, Answer, CheckResult, Interval

__all__ = [
    "APP_NAMESPACE", "AlertExpectation", "AlertHistory", "AlertRule", "AlertTimeline", "Answer", "App", "CallEdge",
    "Change", "Check", "CheckResult", "Client", "ClientCommand", "Component", "ContainerEffect", "Decoy", "Entity",
    "EntityLabel", "Fault", "FaultType", "Finding", "FlagStore", "Interval", "Ledger", "LoadProfile", "NetworkEffect",
    "Object", "PolicyException", "Position", "Procedure", "Reference", "Runbook", "Scenario", "ScenarioSpec",
    "Severity", "Solution", "TrialStep", "StepStatus", "StoreEffect", "TrialSpec", "Value", "Verdict", "Windows",
]  # fmt: skip
