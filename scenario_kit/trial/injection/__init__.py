"""Steps that break things, and prove that they are broken."""
