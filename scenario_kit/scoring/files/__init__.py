"""Readers of ground truths, answers, runs, topologies and price lists, in our formats and those of other benchmarks."""
