"""Section IV of Sun et al. and its supplement: local SGD and local Adam in systems that clients join and leave."""

from validate.experiments.open_fl.figures import reproduce

__all__ = ["reproduce"]
