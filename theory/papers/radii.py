"""Which claims `fedproof radius` evaluates: of local SGD and of local Adam, as printed and repaired."""

from __future__ import annotations

SGD = "open-fl/theorem-2"
SGD_WITH_STEP = "open-fl/theorem-2/corrected-3"
ADAM = "open-fl/theorem-3"
ADAM_REPAIRED = "open-fl/theorem-3/corrected"
ADAM_ON_THE_BALL = "open-fl/theorem-3/on-the-ball"
"""Its gradient bound holds on the ball that the theorem speaks of: `theory.stability.adam_region` says where it can."""
