"""Process start: dependencies, init containers, probes, client commands."""
