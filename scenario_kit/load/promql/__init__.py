"""PromQL texts: parsed within bounds, rewritten, recorded."""
