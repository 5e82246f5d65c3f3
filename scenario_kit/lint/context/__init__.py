"""The input of rules: a scenario or an entry of the catalogue, with everything it refers to."""
