"""Wrong expectations of alerts and checks."""
