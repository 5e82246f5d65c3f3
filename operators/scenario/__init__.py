"""The operator for Scenarios, Trials and Validations: pure planning, thin handlers, one writer per status."""
