"""Section 4 of Deng et al.: PERM and its rivals on two populations of logistic regression; weights and rates."""

from validate.experiments.two_populations.figures import reproduce

__all__ = ["reproduce"]
