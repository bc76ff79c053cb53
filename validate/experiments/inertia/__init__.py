"""Section V of Liu et al.: FedMIM and six baselines on a strongly convex problem with label skew."""

from validate.experiments.inertia.figures import reproduce

__all__ = ["reproduce"]
