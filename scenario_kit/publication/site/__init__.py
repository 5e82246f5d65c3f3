"""The static site: catalogue, scenarios, faults, leaderboard. Values to texts, and texts to a folder."""
