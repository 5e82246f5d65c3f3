"""What rules look at: a scenario or an entry of the catalogue, with everything it refers to."""
