"""System and developer instructions."""
