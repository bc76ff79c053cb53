"""The commands of `fedproof`, by what they are about."""
