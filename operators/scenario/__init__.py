"""The operator for Scenarios, Trials and Validations: pure planning, one writer per status, thin handlers."""
