"""What a refuted claim's certificate says, for a page: both sides, the instance in words, where the file is."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from validate.report import played
from validate.report.figures import reachable
from validate.report.problem_drawing import drawing
from validate.report.readable import Side
from validate.verdict import Result
from validate.worked import BREAKS

SEEN = 5
"""Characters of a fraction whose size is seen at once."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Refutation:
    """What a finding says of a certificate.

    Attributes:
        link: of the file, from the page.
        left, right: both sides.
        sign: the relation in which the sides stand.
        instance: on which the claim breaks; empty where the certificate has none.
        short: the same in a few words.
        drawing: the clients' functions, where they are drawn.
    """

    link: str
    left: Side
    right: Side
    sign: str
    instance: str
    short: str
    drawing: Markup

    @property
    def compared(self) -> tuple[str, str]:
        """Both sides in a line: exact, a long fraction followed by its decimal; both rounded where one must be."""
        left, right = self.left.value, self.right.value
        if left.startswith("≈") or right.startswith("≈"):
            return f"≈ {left.split('≈ ')[-1]}", right.split("≈ ")[-1]
        return self.left.short, right if len(self.right.short) > SEEN else self.right.short


def refutation(result: Result, out: Path, relation: str) -> Refutation | None:
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
        left, right = played.sides(content)
        instance, short = played.in_words(content), played.in_short(content)
        picture = drawing(content)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        log.warning("%s: certificate %s is not what its kind holds: %s", result.id, path, error)
        return None
    return Refutation(
        link=reachable(path, out, "certificates"),
        left=left,
        right=right,
        sign=BREAKS[relation],
        instance=instance,
        short=short,
        drawing=picture,
    )


def find(path: Path, out: Path) -> Path | None:
    """Where a certificate lies: as its path says, or in the report's folder."""
    for candidate in (path, out / path, out / "certificates" / path.name):
        if candidate.is_file():
            return candidate
    return None
