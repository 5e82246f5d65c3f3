"""Privilege escalations attempted through scenarios."""
