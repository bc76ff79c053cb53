"""fedproof."""
