"""The papers: one file each, with nothing else in it."""
