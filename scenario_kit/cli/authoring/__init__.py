"""The commands of authors: new, lint, render, pack tests."""
