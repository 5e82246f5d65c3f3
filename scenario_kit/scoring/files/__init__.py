"""Files of truths, answers, runs, topologies and prices, ours and other benchmarks'; the only part that reads."""
