"""Steps that wait for alerts, or for none."""
