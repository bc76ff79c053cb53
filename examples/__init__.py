"""The papers' experiments, one file a paper, run by `fedproof reproduce` and the report; not part of the wheel."""
