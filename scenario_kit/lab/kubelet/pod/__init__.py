"""Pods: context, state, conditions, events."""
