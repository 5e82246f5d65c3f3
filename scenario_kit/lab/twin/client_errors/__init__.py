"""Error messages of clients for failed connections: by language, client library and store."""
