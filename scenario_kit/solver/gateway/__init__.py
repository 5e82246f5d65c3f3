"""The solver's tools: they use the solver's own credential and are scoped to the app's namespaces."""
