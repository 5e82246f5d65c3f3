"""Runtime data: processes, clients, flags, traces, observations."""
