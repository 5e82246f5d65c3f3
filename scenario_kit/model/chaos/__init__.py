"""Words of Chaos Mesh: kinds, fields, selectors, effects."""
