"""Commands for authors: new, import, lint, render, alerts test."""
