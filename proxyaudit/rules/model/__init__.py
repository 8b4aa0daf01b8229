"""Which model was asked for, and which one answered."""
