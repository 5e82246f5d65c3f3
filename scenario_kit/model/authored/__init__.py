"""What people write: scenarios, faults, apps, changes, checks, rules."""
