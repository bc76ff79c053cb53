"""A review of papers in Markdown: each refutation on its instance, step by step, for a reader without fedproof.

Every number comes from the claim itself, measured on the instance of its certificate (`validate.on_instance`): its
names, the terms of its right side and both sides are sentences of the same language there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theory.comparison import OPPOSITE
from theory.formula import Name
from theory.program import pseudo_code
from theory.sentence import everything_meant, index_of, parse_expression, signed_terms, text_of
from theory.typeset import latex_of_claim
from validate.certificate.exact_text import is_long, ten_digits
from validate.instances.specs import instance_from, with_constants
from validate.on_instance import OnInstance, on_instance
from validate.play import Play
from validate.report.played import in_words
from validate.report.summary import OTHERS, SAID
from validate.rounds import TooManyOutcomesError

if TYPE_CHECKING:
    from theory.claim import Claim, Paper
    from validate.verdict import Result

MARK = "<!-- a review by fedproof -->"
"""The first line; a file without it is somebody's."""
MOST_ROUNDS = 4
"""Rounds of a run that are written out."""
MOST_OUTCOMES = 8
"""States after a round that are written out."""
LONGEST = 40
"""Characters of an exact number; a longer one is shown to ten digits."""


def review(papers: Sequence[Paper], results: Mapping[str, Result], quick: bool) -> str:
    """The review of papers as Markdown.

    Args:
        papers: in the order of the review.
        results: verdicts by id, with certificates where they refute (`validate.check`).
        quick: whether the check was quick.
    """
    lines = [MARK, ""]
    for paper in papers:
        claims = [claim for claim in paper if claim.amends is None and claim.id in results]
        readings = [claim for claim in claims if "/" in claim.label]
        printed = [claim for claim in claims if claim not in readings]
        lines += [f"# {paper.title}", "", f"{paper.authors}", ""]
        how = "quick" if quick else "full"
        lines += [f"By a {how} check, of {_counted(printed, 'result')} {_told(printed, results, SAID)}."]
        lines += [f"Of {_counted(readings, 'reading')} of them {_told(readings, results, OTHERS)}."] if readings else []
        lines.append("")
        for claim in claims:
            if _verdict(results, claim) == "refuted":
                amending = [c for c in paper if c.amended == claim.id]
                lines += [*sheet(claim, results[claim.id], amending, results), ""]
        for word in ("vacuous", "undecided"):
            left = [claim for claim in claims if _verdict(results, claim) == word]
            if left:
                lines += [f"## {word.capitalize()}", ""]
                lines += [f"- {c.equation or c.label}: {results[c.id].telling or 'said in words alone'}" for c in left]
                lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def sheet(claim: Claim, result: Result, amending: Sequence[Claim], results: Mapping[str, Result]) -> Iterator[str]:
    """The lines on one refutation: what is claimed, its instance, both sides in steps, the certificate, the repair."""
    where = f"{claim.kind} {claim.equation}" if claim.equation.startswith("(") else claim.equation or claim.label
    yield f"## {where[:1].upper()}{where[1:]} is false{' as transcribed from memory' if claim.sure == 'memory' else ''}"
    yield from ("", f"$$ {latex_of_claim(claim)} $$", "")
    if claim.where:
        yield "where " + "; ".join(f"`{name} = {text}`" for name, text in claim.where.items()) + "."
    if claim.assuming:
        yield "Assumed: " + "; ".join(f"`{text}`" for text in map(str, claim.assuming)) + "."
    certificate = _read(result)
    if certificate is None:
        yield from ("", f"{result.telling}.")
    else:
        yield from ("", f"**The instance.** {in_words(certificate)}")
        try:
            found = _on(claim, certificate)
        except (ValueError, KeyError, TooManyOutcomesError):
            yield f"Both sides there: {certificate['left']} and {certificate['right']}."
        else:
            yield from _worked(found, certificate)
        yield from _checkable(result, certificate)
    for other in amending:
        verdict = _verdict(results, other)
        if verdict in ("proved", "supported"):
            yield from ("", f"**It stands as** ({other.equation or other.label}, {verdict}):", "")
            yield f"$$ {latex_of_claim(other)} $$"


def _worked(found: OnInstance, certificate: Mapping[str, Any]) -> Iterator[str]:
    """The hypotheses, the run, the names, the terms and both sides, with their values."""
    claim = found.claim
    held = [f"`{text}`" for text, true in found.hypotheses if true]
    said = ", ".join(f"{name} = {shown(value)}" for name, value in found.drawn.constants.items())
    yield from ("", "**By hand.**", "")
    if held:
        yield f"1. Every hypothesis holds: {', '.join(held)}{f' (with {said})' if said else ''}."
    yield from _run(found)
    at = {name: int(value) for name, value in certificate.get("at", {}).items()}
    for name in claim.where:
        value = value_of(found, name, at)
        if value is not None:
            yield f"1. `{name}` = {shown(value)}."
    sentence = claim.sentence
    left, right = (value_of(found, text_of(side), at) for side in (sentence.left, sentence.right))
    there = f" at {', '.join(f'{name} = {value}' for name, value in at.items())}" if at else ""
    if left is None or right is None:
        yield f"1. The left side is {certificate['left']}, the right side {certificate['right']}{there}."
        return
    for words, side, value in (("left", sentence.left, left), ("right", sentence.right, right)):
        parts = list(signed_terms(side))
        values = [value_of(found, text_of(part), at) for _, part in parts]
        sums = " ".join(f"{sign} {shown(part)}" for (sign, _), part in zip(parts, values, strict=True)).lstrip("+ ")
        terms = "; ".join(f"`{text_of(part)}` = {shown(v)}" for (_, part), v in zip(parts, values, strict=True))
        whole = len(parts) > 1 and None not in values
        yield f"1. The {words} side{there}: {f'{terms}; {sums} = ' if whole else ''}{shown(value)}."
    yield f"1. {shown(left)} {OPPOSITE[sentence.relation]} {shown(right)}."


def _run(found: OnInstance) -> Iterator[str]:
    """The states that the rounds leave, where they are few."""
    instance, program = found.drawn.instance, found.claim.program
    if program is None or instance.problem is None:
        return
    yield "1. The algorithm:"
    yield from ("", "   ```text", *(f"   {line}" for line in pseudo_code(program).splitlines()), "   ```", "")
    name = program.state[0].name
    try:
        play = Play(instance, limit=1000)
        for k in range(min(instance.rounds, MOST_ROUNDS) + 1):
            law: dict[Any, Fraction] = {}
            for chance, state in play.distribution(k):
                law[state[0]] = law.get(state[0], Fraction(0)) + chance
            if len(law) > MOST_OUTCOMES:
                yield f"1. `{name}[{k}]` has {len(law)} values."
                return
            sure = len(law) == 1
            values = (f"{shown(x)}" if sure else f"{shown(x)} with probability {shown(p)}" for x, p in law.items())
            yield f"1. `{name}[{k}]` = {', '.join(values)}."
    except (ValueError, TooManyOutcomesError):
        return


def _checkable(result: Result, certificate: Mapping[str, Any]) -> Iterator[str]:
    """Where the certificate is, and how anybody checks it."""
    yield from ("", f"**Certificate.** `{result.certificate}`, checked again by `fedproof verify` or, with nothing but")
    yield "Python, by `python -I -S verify.py CERTIFICATE` beside it."
    yield from ("", "<details><summary>the certificate</summary>", "", "```json")
    yield json.dumps(certificate, ensure_ascii=False)
    yield from ("```", "", "</details>")


def value_of(found: OnInstance, text: str, at: Mapping[str, int]) -> Any:
    """The value of a formula of the claim on its instance, a Fraction or a ball; None where it has no single one."""
    domains = found.claim.parameters
    try:  # a domain is written for no name that a sentence does not use
        used = {name: domains[name] for name in domains if name in _names(found.claim, text)}
        asked = replace(found.claim, statement=f"{text} <= 0", parameters=used, proof=(), given=())
        rows = replace(found, claim=asked).measured.rows
    except (ValueError, KeyError, TypeError, TooManyOutcomesError):
        return None
    wanted = [row for row in rows if all(row.at.get(name, value) == value for name, value in at.items())]
    values = [row.left for row in wanted if row.left is not None]
    exact = [value for value in values if isinstance(value, Fraction)]
    if exact:
        return exact[0] if len(exact) == len(values) and len(set(exact)) == 1 else None
    return values[0] if len(values) == 1 else None


def _names(claim: Claim, text: str) -> set[str]:
    """The names in a formula of the claim, in its assumptions, and in the definitions that these use."""
    words, seen = claim.vocabulary, set()
    trees = [parse_expression(text), *(side for one in claim.relations for side in one.sides)]
    for tree in trees:
        for part in everything_meant(tree, words):
            if isinstance(part, Name):
                seen |= {part.name, index_of(part.name)[0]}
    return seen | {name for one in claim.predicates for name in one.binds}


def shown(value: Any) -> str:
    """A number or a vector: exact where that is short."""
    if isinstance(value, tuple | list):
        return f"({', '.join(map(shown, value))})" if len(value) != 1 else shown(value[0])
    if not isinstance(value, Fraction):  # a ball, after an irrational root
        return f"about {value.str(10, radius=False)}" if hasattr(value, "rad") else str(value)
    if is_long(value) or len(text := str(value)) > LONGEST:
        return f"about {ten_digits(value)}"
    return text


def _counted(claims: Sequence[Claim], what: str) -> str:
    """How many there are of something."""
    return f"{len(claims)} {what}{'s' * (len(claims) != 1)}"


def _told(claims: Sequence[Claim], results: Mapping[str, Result], words: Mapping[str, tuple[str, str]]) -> str:
    """How many claims have which verdict."""
    counts = Counter(_verdict(results, claim) for claim in claims)
    return ", ".join(f"{counts[word]} {words[word][counts[word] > 1]}" for word in words if counts[word])


def _verdict(results: Mapping[str, Result], claim: Claim) -> str:
    return results[claim.id].verdict if claim.id in results else "undecided"


def _read(result: Result) -> dict[str, Any] | None:
    """The certificate of a refutation."""
    if result.certificate is None:
        return None
    content = json.loads(Path(result.certificate).read_text(encoding="utf-8"))
    return content if isinstance(content, dict) else None


def _on(claim: Claim, certificate: Mapping[str, Any]) -> OnInstance:
    form, constants = with_constants(certificate, claim)
    return on_instance(claim, instance_from(form, claim), constants)
