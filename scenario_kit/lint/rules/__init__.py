"""The static rules, by what they are about."""
