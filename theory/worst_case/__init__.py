"""Performance estimation problems: solved, proved from above in exact numbers, and attained from below."""
