"""What processes, clients, flags, traces and samples are."""
