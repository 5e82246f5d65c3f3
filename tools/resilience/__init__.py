"""Parts of the lab that are killed while a trial runs."""
