"""What each agent lawfully does to its own history: one small file a harness."""
