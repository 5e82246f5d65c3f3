"""Rules about files: layout, texts, metadata, duplicates, evidence."""
