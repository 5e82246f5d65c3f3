"""Steps that ask whether an incident is over, and stays over."""
