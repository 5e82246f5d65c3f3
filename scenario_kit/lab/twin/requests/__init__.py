"""Requests on their way through the app: load, calls, caches, brokers."""
