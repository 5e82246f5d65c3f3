"""The lab server: the data plane of a lab in one process, driven over HTTP."""
