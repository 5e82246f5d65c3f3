"""Words of Kubernetes: quantities, durations, images, selectors, references."""
