"""PromQL: bounded parsing, rewriting, and inlining of recording rules."""
