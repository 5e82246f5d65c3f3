"""Requests in the app: load, calls, caches, brokers."""
