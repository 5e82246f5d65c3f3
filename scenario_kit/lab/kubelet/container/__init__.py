"""The container lifecycle: configuration, start, probes, exit."""
