"""What every step needs: ports, runbook, time, noise, progress."""
