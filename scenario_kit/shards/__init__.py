"""Divide the validation of a catalogue over machines, run one shard, and collect the results (docs/shards.md)."""
