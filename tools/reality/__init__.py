"""The simulated node beside a real one."""
