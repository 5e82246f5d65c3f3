"""The simulated chaos daemon: the real ``pb.ChaosDaemon`` protocol, with a ledger of effects instead of a kernel."""
