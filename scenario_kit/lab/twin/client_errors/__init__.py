"""The words in which clients report a failed connection: by language, by client library, and by store."""
