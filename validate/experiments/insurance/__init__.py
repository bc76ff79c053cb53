"""Section VI of Rostami and Kia: FedAvg-SVRG and two baselines on 900 people's medical insurance."""

from validate.experiments.insurance.figures import reproduce

__all__ = ["reproduce"]
