"""An operator that is killed, and an API server that fails, at every write of a trial."""
