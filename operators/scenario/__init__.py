"""The operator that makes Scenarios and Trials happen: a pure plan, one writer of status, thin handlers."""
