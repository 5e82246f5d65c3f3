"""Steps that wait for alerts, or for their absence."""
