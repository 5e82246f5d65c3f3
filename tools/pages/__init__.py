"""Pages and schemas that follow from the catalogue, the rules and the formats."""
