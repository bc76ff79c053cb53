"""What a refuted claim's certificate says, for a page: both sides, the instance in words, where the file is."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from theory.formula import Number
from theory.sentence import text_of
from theory.typeset import latex_of
from validate.report import played
from validate.report.figures import reachable
from validate.report.formula import Typesetter, tokens
from validate.report.problem_drawing import drawing
from validate.report.readable import Side
from validate.verdict import Result
from validate.worked import BREAKS

if TYPE_CHECKING:
    from theory.claim import Claim

MOST_SIGNS = 24
"""Of a left side that is written in a line of words; of a right side half of them."""
SEEN = 11
"""Characters of fractions of which it is seen at once which is larger."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Refutation:
    """What a finding says of a certificate.

    Attributes:
        link: of the file, from the page.
        left, right: both sides.
        sign: the relation in which the sides stand.
        where: in the run they are taken; may be empty.
        instance: on which the claim breaks; empty where the certificate has none.
        short: the same in a few words.
        drawing: the clients' functions, where they are drawn.
    """

    link: str
    left: Side
    right: Side
    sign: str
    where: str
    instance: str
    short: str
    drawing: Markup

    @property
    def compared(self) -> tuple[str, str]:
        """Both sides in a line: exact where that is seen at once, else rounded."""
        exact = self.left.short, self.right.short
        if "≈" not in "".join(exact) and sum(len(text) for text in exact if "/" in text) <= SEEN:
            return f"= {exact[0]}", exact[1]
        left, right = (side.value.split("≈ ")[-1] for side in (self.left, self.right))
        return f"≈ {left}", right


def refutation(result: Result, out: Path, claim: Claim, setter: Typesetter) -> Refutation | None:
    """What the certificate of a refuted claim says; None when there is none, or it cannot be read."""
    if result.certificate is None:
        return None
    path = find(Path(result.certificate), out)
    if path is None:
        log.warning("%s: certificate %s is not there", result.id, result.certificate)
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        log.warning("%s: certificate %s cannot be read: %s", result.id, path, error)
        return None
    if not isinstance(content, dict):
        log.warning("%s: certificate %s is not a JSON object", result.id, path)
        return None
    try:
        left, right = played.values(content)
        instance, short = played.in_words(content), played.in_short(content)
        picture, names = drawing(content), _names(claim, setter)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        log.warning("%s: certificate %s is not what its kind holds: %s", result.id, path, error)
        return None
    return Refutation(
        link=reachable(path, out, "certificates"),
        left=Side(names[0], left),
        right=Side(names[1], right),
        sign=BREAKS[claim.sentence.relation],
        where=played.where(content),
        instance=instance,
        short=short,
        drawing=picture,
    )


def _names(claim: Claim, setter: Typesetter) -> tuple[Markup, Markup]:
    """What both sides of the claim's sentence are: set where that is short, else in words."""
    said = []
    for at, tree in enumerate(claim.sentence.sides):
        latex = latex_of(tree, claim.vocabulary)
        signs = sum(not token.isspace() and token not in "{}^_" for token in tokens(latex))
        known = at == 0 or "\\mathrm" not in latex  # a bound by its abbreviations says nothing
        shown = signs * (1 + at) <= MOST_SIGNS and known and not isinstance(tree, Number)
        said.append(setter.display(latex, text_of(tree)) if shown else Markup(""))
    bound = "the right side" if claim.sentence.relation == "==" else "its bound"
    return said[0] or Markup("the left side"), Markup(f"{bound} {said[1]}").strip()


def find(path: Path, out: Path) -> Path | None:
    """Where a certificate lies: as its path says, or in the report's folder."""
    for candidate in (path, out / path, out / "certificates" / path.name):
        if candidate.is_file():
            return candidate
    return None
