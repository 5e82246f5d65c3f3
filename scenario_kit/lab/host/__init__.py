"""Host resources of a lab: ports, locks, processes, disk, state."""
