"""The life of containers: configuration, start, probes, end."""
