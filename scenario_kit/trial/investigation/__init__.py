"""What a solver finds: symptoms, leaks, silent hops."""
