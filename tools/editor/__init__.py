"""A client of yaml-language-server, which queries it as editors do."""
