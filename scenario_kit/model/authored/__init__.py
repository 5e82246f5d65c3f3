"""Authored documents: scenarios, faults, apps, changes, checks, alert rules."""
