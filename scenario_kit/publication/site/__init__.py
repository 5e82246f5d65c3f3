"""The static site: catalogue, scenarios, faults and leaderboard, rendered to a folder of files."""
