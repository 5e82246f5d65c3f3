"""Events in a running process: faults, flags, files, agents, resources."""
