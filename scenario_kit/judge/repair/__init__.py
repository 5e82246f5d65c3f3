"""Judge repairs: whether an incident is resolved, and whether the app is otherwise unchanged."""
