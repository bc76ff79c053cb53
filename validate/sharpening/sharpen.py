"""The strongest form of a claim that still stands: all of it in order, for some time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from theory.claim import Claim
from theory.sentence import text_of
from validate.measurement import sentence_of
from validate.sharpening.brackets import Moving
from validate.sharpening.findings import Bracket, Least, Sharpened, Without, Word
from validate.sharpening.judging import Judge
from validate.sharpening.stronger import Family, constants, edits, steps
from validate.sharpening.worst import attained, formula, is_printed, needed, terms, with_factor

SECONDS = 120.0
STANDS = ("proved", "supported")
TRIED = "no instance that was searched for breaks it, and no derivation was carried over or found"
AROUND, PARTS, WORST = 0.1, 0.5, 0.3
"""Of the time: for instances to begin with; of what is left then, for what can be left out; then for worst cases."""
KEPT = 12
"""Instances that attain a worst case, and are kept to hold forms against."""


def sharpen(
    target: Claim | str,
    *,
    seconds: float = SECONDS,
    out: str | Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Sharpened:
    """Ask what a claim that stands needs, and how small its constants may be.

    Args:
        target: a claim that is a sentence, its id, or ``my_paper.py:label`` for one in a file, which is run.
        seconds: of this process's time, within which further forms are begun; the check of the claim itself, and what
            is under way then, take as long as they take.
        out: folder for certificates and derivations; None keeps none.
        tell: called with one line of text.

    Returns:
        What is known; after an interrupt what is known by then, and `Sharpened.cut` says so.

    Raises:
        ValueError: for a claim that is not known, is no sentence or speaks of what no formula says, for one that does
            not stand, and for seconds that are not positive.
        OSError: for a file that cannot be read or written.
    """
    if not seconds > 0:
        raise ValueError(f"seconds={seconds} is not positive")
    claim = sentence_of(target)
    if claim.in_words:
        raise ValueError(f"{claim.id} speaks of what no formula says ({', '.join(claim.in_words)})")
    if out is not None:
        return _Work(Judge(claim, Path(out), tell), claim, seconds).done()
    with TemporaryDirectory() as folder:
        return _Work(Judge(claim, Path(folder), tell), claim, seconds).done()


@dataclass
class _Work:
    judge: Judge
    claim: Claim
    seconds: float
    begun: float = field(default_factory=time.process_time)
    word: Word | None = None
    parts: list[Without] = field(default_factory=list)
    brackets: list[Bracket] = field(default_factory=list)
    least: list[Least] = field(default_factory=list)
    cut: str = ""

    def done(self) -> Sharpened:
        claim = self.claim
        self.judge.tell(f"{claim.id}: whether it stands")
        self.word = self.judge.itself()
        if self.word.verdict == "refuted":
            raise ValueError(f"{claim.id} is refuted, so there is nothing to sharpen: {self.word.detail}")
        self.begun = time.process_time()
        try:
            self._all()
        except KeyboardInterrupt:
            self.cut = "interrupted"
        taken = time.process_time() - self.begun
        parts, brackets, least = tuple(self.parts), tuple(self.brackets), tuple(self.least)
        return Sharpened(claim, self.word, self.judge.claim, parts, brackets, least, self.cut, taken)

    @property
    def end(self) -> float:
        return self.begun + self.seconds

    def _share(self, of: float, among: int) -> float:
        """Until when one of so many may be searched for, of a part of the time that is left."""
        now = time.process_time()
        return now + max(0.0, self.end - now) * of / max(1, among)

    def _all(self) -> None:
        judge, claim = self.judge, self.claim
        judge.tell(f"{claim.id}: instances to begin with")
        before = self._share(AROUND, 1)
        judge.look_around(lambda: time.process_time() > before)
        self._without()
        self._worst()
        self._moved()

    def _without(self) -> None:
        """What can be left out; of what is proved without something the rest is asked."""
        judge, told = self.judge, dict[tuple[str, str], Without]()
        some = list(edits(judge.claim, judge.there))
        while some:
            if time.process_time() > self.end:
                self.cut = f"cut off with {len(some)} things that may be left out"
                break
            one, *some = some
            judge.tell(f"{self.claim.id}: without {one.what} ({len(some)} more)")
            seconds = self._share(PARTS, len(some) + 1) - time.process_time()
            word = judge.word(one.claim, seconds, one.kind != "assumption") or Word(one.claim, "undecided", TRIED)
            told[one.kind, one.what] = Without(one.kind, one.what, word)
            self.parts = list(told.values())
            if word.verdict == "proved":
                judge.goes_on(one.claim, word.derivation)
                # what is refuted is so without more, too; what was open is asked again
                some = [
                    more
                    for more in edits(judge.claim, judge.there)
                    if (known := told.get((more.kind, more.what))) is None or known.need == "undecided"
                ]

    def _worst(self) -> None:
        """The least factors at numbers; one that a formula says, and that is proved, is the term's from then on."""
        judge = self.judge
        for i in range(len(own := list(terms(judge.claim))) if judge.claim.sentence.relation != "==" else 0):
            if time.process_time() > self.end:
                return
            own = list(terms(judge.claim))
            judge.tell(f"{self.claim.id}: the worst case of {own[i].text} ({i + 1} of {len(own)})")
            known, instances = needed(judge.claim, own[i], self._share(WORST, len(own) - i))
            judge.there += attained(judge.claim, instances[:KEPT])
            if not known:
                continue
            exact = is_printed(known)
            new = None if exact else formula(judge.claim, own[i], known)
            form = None if new is None else with_factor(judge.claim, own[i], new)
            word = None
            if form is not None:
                seconds = self._share(WORST, len(own) - i) - time.process_time()
                word = judge.word(form, seconds, True) or Word(form, "undecided", TRIED)
                if word.verdict == "proved":
                    judge.goes_on(form, word.derivation)
            told = None if new is None or form is None else text_of(new)
            self.least.append(Least(own[i].text, text_of(own[i].factor), len(known), exact, told, word))

    def _moved(self) -> None:
        judge, claim = self.judge, self.judge.claim
        asked = [*(one.word for one in self.parts), *(one.word for one in self.least)]
        proved = next((word for word in asked if word is not None and word.claim is claim), self.word)
        assert proved is not None
        some: list[Family] = [*constants(claim, judge.there), *steps(claim)]
        for i, one in enumerate(some):
            if time.process_time() > self.end:
                self.cut = self.cut or f"cut off after {i} of {len(some)} numbers"
                return
            judge.tell(f"{self.claim.id}: {one.what} ({i + 1} of {len(some)})")
            moving = Moving(judge, one, proved)
            try:
                moving.narrow(self._share(1.0, len(some) - i))
            finally:  # also where it is interrupted
                self.brackets.append(moving.found)
