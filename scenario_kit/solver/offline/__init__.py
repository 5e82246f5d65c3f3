"""An incident as a snapshot holds it: what the tools of solvers read where no cluster is (docs/solve.md)."""
