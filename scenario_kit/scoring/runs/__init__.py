"""Records of runs: what a solver did, how long it took, and what it cost."""
