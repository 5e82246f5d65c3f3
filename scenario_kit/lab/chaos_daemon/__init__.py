"""The simulated chaos daemon: the real ``pb.ChaosDaemon`` contract, and a ledger of effects where a kernel would be."""
