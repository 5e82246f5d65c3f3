"""Possible results of a PromQL expression, for any series: value ranges, presence, and constant comparisons."""
