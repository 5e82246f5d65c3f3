"""Condenses the OpenAPI document of the lab's Kubernetes version into the table of fields that lint ships."""
