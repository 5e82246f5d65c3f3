"""The verifier of exported tasks: one program of the standard library, which is copied into each."""
