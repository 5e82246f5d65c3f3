"""What happens in a process while it serves: faults, flags, files, agents, resources."""
