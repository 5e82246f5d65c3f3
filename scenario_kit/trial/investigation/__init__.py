"""What a solver can observe: symptoms, leaks, silent hops."""
