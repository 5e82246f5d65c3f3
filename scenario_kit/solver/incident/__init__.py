"""An incident on a cluster: played up to its hand-over, judged at the end, taken away."""
