"""The values that are scored: names of entities, the truth of an incident, the answer of a solver."""
