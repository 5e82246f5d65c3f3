"""The files of a snapshot, in the layout of ITBench's recorder (docs/snapshot.md)."""
