"""Rules about the ground truth: causes, propagation, labels, noise."""
