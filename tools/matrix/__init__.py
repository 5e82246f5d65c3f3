"""Every fault at every place of every app, tried in a lab."""
