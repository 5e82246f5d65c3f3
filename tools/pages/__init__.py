"""Generated pages and schemas."""
