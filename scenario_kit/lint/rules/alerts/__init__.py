"""Rules about alerts, queries and checks."""
