"""The static rules by subject."""
