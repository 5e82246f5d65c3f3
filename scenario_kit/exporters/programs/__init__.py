"""Programs that are copied into exports as they are. They import nothing of the kit."""
