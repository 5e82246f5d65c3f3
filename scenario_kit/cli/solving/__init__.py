"""Commands that run solvers on incidents."""
