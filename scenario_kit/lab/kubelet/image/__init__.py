"""Images and the processes in them."""
