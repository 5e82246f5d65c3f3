"""scenario-kit: write an incident as one YAML file, make it happen, prove that it does."""

__version__ = "0.1.0"
