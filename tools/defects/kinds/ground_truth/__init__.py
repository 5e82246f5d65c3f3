"""Wrong ground truth: labels, causes, artefacts and propagation."""
