"""Landmark theorems of the field, as printed: one file a paper."""
