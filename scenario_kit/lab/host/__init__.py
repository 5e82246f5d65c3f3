"""What a lab takes of its host: ports, locks, processes, disk, state."""
