"""How processes come up: dependencies, init containers, probes, client commands."""
