"""What all steps share: ports, runbook, time, noise, progress."""
