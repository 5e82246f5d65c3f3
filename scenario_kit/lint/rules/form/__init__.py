"""Rules about files: form, texts, metadata, duplicates, evidence."""
