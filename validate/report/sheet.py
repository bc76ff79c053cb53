"""A sheet on a refutation, for a reader without fedproof: as data, in Markdown and in LaTeX.

It says what is claimed, on which instance it breaks, how both sides are worked out there, what that means for the
paper, and what stands in its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theory.typeset import GREEK, latex_of_assumption, latex_of_claim, latex_of_definitions
from validate.report.played import in_words
from validate.report.readable import LOWERED, called, letter
from validate.report.resting import edges, errors
from validate.severity import MEANING, severity_of
from validate.worked import Formula, Shown, Step, Worked, worked

if TYPE_CHECKING:
    from theory.claim import Claim, Paper
    from validate.verdict import Result


@dataclass(frozen=True)
class Sheet:
    """A refuted claim for a reviewer.

    Attributes:
        claim: as printed.
        heading: that it is false.
        sentence: what it says.
        definitions, assumed, standing: its names, its hypotheses, and those that are not printed with it.
        instance: on which it breaks, in words; empty without a certificate.
        worked: both sides there, in steps; None without a certificate.
        telling: what the evidence says.
        certificate: as in its file; None without.
        file: of the certificate.
        means: for the paper, a sentence each.
        repairs: what stands in its place: name, verdict, sentence.
    """

    claim: Claim
    heading: str
    sentence: Formula
    definitions: tuple[Formula, ...]
    assumed: tuple[Formula, ...]
    standing: tuple[Formula, ...]
    instance: str
    worked: Worked | None
    telling: str
    certificate: Mapping[str, Any] | None
    file: str
    means: tuple[str, ...]
    repairs: tuple[tuple[str, str, Formula], ...]


def sheet(claim: Claim, paper: Paper, results: Mapping[str, Result]) -> Sheet:
    """The sheet on a refuted claim.

    Args:
        claim: of the paper.
        paper: for what rests on the claim, and what repairs it.
        results: verdicts by id, with a certificate where they refute (`validate.check`).
    """
    result, words = results[claim.id], claim.vocabulary
    certificate = _read(result)
    assumed = [Formula(latex_of_assumption(one, words), str(one)) for one in claim.assumptions]
    definitions = latex_of_definitions(claim)
    stands = [c for c in paper if c.amended == claim.id and verdict_on(results, c) in ("proved", "supported")]
    return Sheet(
        claim=claim,
        heading=f"{called(claim)} is false{' as transcribed from memory' if claim.sure == 'memory' else ''}",
        sentence=Formula(latex_of_claim(claim), claim.statement),
        definitions=tuple(Formula(definitions[name], f"{name} = {text}") for name, text in claim.where.items()),
        assumed=tuple(assumed[: len(claim.assuming)]),
        standing=tuple(assumed[len(claim.assuming) :]),
        instance="" if certificate is None else in_words(certificate),
        worked=None if certificate is None else worked(claim, certificate),
        telling=result.telling,
        certificate=certificate,
        file=result.certificate or "",
        means=tuple(_means(claim, paper, results)),
        repairs=tuple((called(c), verdict_on(results, c), Formula(latex_of_claim(c), c.statement)) for c in stands),
    )


def _means(claim: Claim, paper: Paper, results: Mapping[str, Result]) -> Iterator[str]:
    """What it means for the paper that a claim is false: how far off it is, what falls with it, what does not."""
    severity, kept = results[claim.id].severity, severity_of(claim)
    if severity is not None:
        yield f"Severity: {severity}, {MEANING[severity]}."  # type: ignore[index]
    elif kept is not None and kept.severity is not None:
        yield f"Severity: {kept.line}."
    known, names = edges(paper), {c.id: called(c) for c in paper}
    if not any(claim.id in edge for edge in known):
        return
    verdicts = {id: result.verdict for id, result in results.items()}
    false = [edge.base for edge in known if edge.on == claim.id and verdicts.get(edge.base) == "refuted"]
    if false:
        yield f"Its printed proof uses {_named(false, names)}, which {'is' if len(false) == 1 else 'are'} false."
    else:
        yield "The error enters here: nothing encoded that it rests on is false."
    here = [edge for edge in known if edge.base not in false or edge.on != claim.id]
    for error in errors(here, verdicts):
        if error.id == claim.id and error.fells:
            yield f"With it {'falls' if len(error.fells) == 1 else 'fall'} {_named(error.fells, names)}, false too."
        if error.id == claim.id and error.spares:
            how = [f"{names.get(id, id)} ({verdicts.get(id, 'not checked')})" for id in error.spares]
            yield f"Not refuted, though the printed proof uses a false line: {', '.join(how)}."
    if not any(edge.base == claim.id for edge in known):
        yield "No other encoded result of the paper rests on it."


def _named(ids: Sequence[str], names: Mapping[str, str]) -> str:
    return ", ".join(names.get(id, id) for id in ids)


def markdown(s: Sheet) -> str:
    return "\n".join(_markdown(s))


def _markdown(s: Sheet) -> Iterator[str]:
    yield f"## {s.heading}"
    yield from ("", f"$$ {s.sentence.latex} $$", "")
    if s.definitions and not (s.worked and s.worked.named):
        yield "where " + "; ".join(f"`{one.text}`" for one in s.definitions) + "."
    for words, ones in (("Assumed", s.assumed), ("Assumed, and not printed with it", s.standing)):
        if ones:
            yield f"{words}: " + "; ".join(f"`{one.text}`" for one in ones) + "."
    if s.worked is None:
        yield from ("", f"{s.telling}.")
    else:
        yield from ("", f"**The instance.** {s.instance}", "")
        if s.worked.program:
            yield from ("The algorithm:", "", "```text", s.worked.program, "```", "")
        yield from ("**By hand.**", "")
        yield from (f"1. {_written(step, lambda one: f'`{one.text}`', lambda text: text)}" for step in s.worked.steps)
    if s.means:
        yield from ("", f"**What it means.** {' '.join(s.means)}")
    for name, verdict, sentence in s.repairs:
        yield from ("", f"**It stands as** ({name}, {verdict}):", "", f"$$ {sentence.latex} $$")
    if s.certificate is not None:
        yield from ("", f"**Certificate.** `{s.file}`, checked again by `fedproof verify` or, with nothing but")
        yield "Python, by `python -I -S verify.py CERTIFICATE` beside it."
        yield from ("", "<details><summary>the certificate</summary>", "", "```json")
        yield json.dumps(s.certificate, ensure_ascii=False)
        yield from ("```", "", "</details>")


def latex(s: Sheet) -> str:
    """A sheet in LaTeX, for amsmath; the certificate by its file alone."""
    return "\n".join(_latex(s))


def _latex(s: Sheet) -> Iterator[str]:
    def mathematics(one: Formula) -> str:
        return f"${one.latex}$"

    yield rf"\subsection*{{{escaped(s.heading)}}}"
    yield from (r"\[", s.sentence.latex, r"\]")
    if s.definitions and not (s.worked and s.worked.named):
        yield "where " + "; ".join(map(mathematics, s.definitions)) + "."
    for words, ones in (("Assumed", s.assumed), ("Assumed, and not printed with it", s.standing)):
        if ones:
            yield f"{words}: " + "; ".join(map(mathematics, ones)) + "."
    if s.worked is None:
        yield f"{escaped(s.telling)}."
    else:
        yield rf"\paragraph{{The instance.}} {escaped(s.instance)}"
        yield from (r"\begin{enumerate}",)
        yield from (rf"\item {_written(step, mathematics, escaped)}" for step in s.worked.steps)
        yield r"\end{enumerate}"
    if s.means:
        yield rf"\paragraph{{What it means.}} {escaped(' '.join(s.means))}"
    for name, verdict, sentence in s.repairs:
        yield from (rf"\paragraph{{It stands as}} {escaped(name)} ({verdict}):", r"\[", sentence.latex, r"\]")
    if s.certificate is not None:
        yield rf"\paragraph{{Certificate.}} \texttt{{{escaped(Path(s.file).name)}}}"


def _written(step: Step, formula: Callable[[Formula], str], words: Callable[[str], str]) -> str:
    """A step as text."""
    return "".join(formula(p) if isinstance(p, Formula) else words(p.text if isinstance(p, Shown) else p) for p in step)


_SIGNS = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\N{NO-BREAK SPACE}": "~",
    "−": "$-$", "≈": r"$\approx$", "½": r"$\frac{1}{2}$", "¼": r"$\frac{1}{4}$", "×": r"$\times$", "⁻": "$^-$",
    "≥": r"$\geq$", "≤": r"$\leq$", "≠": r"$\neq$", "<": "$<$", ">": "$>$", "ᵀ": "$^T$",
    "ₙ": "$_n$", "″": "''", "′": "'", "∇": r"$\nabla$", "…": r"\dots{}", "∞": r"$\infty$",
    **{digit: f"$^{at}$" for at, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **{digit: f"$_{at}$" for at, digit in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **{chr(low): f"$_{chr(plain)}$" for plain, low in LOWERED.items()},
    **{letter(name): f"$\\{name}$" for name in GREEK.pattern.split("|")},
}  # fmt: skip


def escaped(text: str) -> str:
    """Words for LaTeX.

    Example:
        >>> escaped("50% of f₁(x) = ½x²")
        '50\\\\% of f$_1$(x) = $\\\\frac{1}{2}$x$^2$'
    """
    return "".join(_SIGNS.get(c, f"\\{c}" if c in "#$%&_{}" else c) for c in text)


def verdict_on(results: Mapping[str, Result], claim: Claim) -> str:
    return results[claim.id].verdict if claim.id in results else "undecided"


def _read(result: Result) -> dict[str, Any] | None:
    """The certificate of a refutation."""
    if result.certificate is None or not Path(result.certificate).is_file():
        return None
    content = json.loads(Path(result.certificate).read_text(encoding="utf-8"))
    return content if isinstance(content, dict) else None
