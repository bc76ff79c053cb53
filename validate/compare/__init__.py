"""All bounds of one quantity at a reader's numbers, beside what the algorithms do there."""
