"""Defects in what people and solvers read: leaks, copies and missing metadata; lint must catch them."""
