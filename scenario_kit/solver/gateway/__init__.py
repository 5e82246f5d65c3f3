"""Everything that a solver reaches: tools over the solver's own credential, scoped to the app's namespaces."""
