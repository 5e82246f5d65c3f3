"""The simulated kubelet: a pure core that decides a pod's next status and events, and a thin loop that writes them."""
