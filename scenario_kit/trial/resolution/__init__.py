"""Steps that check whether an incident is resolved, and stays resolved."""
