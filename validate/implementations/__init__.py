"""Is this code the algorithm of the theorem? A reader's own round, run or strategy, held against a claim's program.

`diff` makes trials (`trials`), plays the program in each with every value written down (`reference`), calls the
implementation on the same draws (`draws`) and problems (`oracle`), names the first value that differs (`causes`), looks
for the edit of the program that the code is (`slips`, `explaining`), makes the setting small (`difference`), and says
it all (`found`).
"""

from validate.implementations.adapters import fedjax, flower
from validate.implementations.difference import diff
from validate.implementations.found import Diff

__all__ = ["Diff", "diff", "fedjax", "flower"]
