"""Connections between processes: endpoints, policies, latency, loss, and proxies in between."""
