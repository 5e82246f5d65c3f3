"""Every fault type on every target of every app, tried in a lab."""
