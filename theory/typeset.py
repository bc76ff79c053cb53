r"""Expressions, sentences, assumptions and claims in LaTeX.

Only what mathtext (the report, the site) and MathJax both set is used. A mean over clients is a sum over N, one over
the samples, rounds or turns is written :math:`\mathrm{mean}`; sums, means and maxima reach to the next sign, so that
what is multiplied by something on their right stands in parentheses. States and taps have their indices above and the
client's below: ``x[k+1]`` is :math:`x^{k+1}`, a client's ``h[k]`` :math:`h_n^k`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from theory.for_every import ForEvery
from theory.formula import Apply, Name, Number
from theory.predicates import Connected, Predicate
from theory.sentence import FUNCTION_NAMES, OVER, POINTS, At, Expression, Sentence, Vocabulary, index_of, parts

if TYPE_CHECKING:
    from theory.claim import Claim

GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon|phi|chi|psi|omega"
    "|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
RELATIONS: Mapping[str, str] = {"<=": r"\leq", ">=": r"\geq", "<": "<", ">": ">", "==": "="}
SQUARES = frozenset({"sigma", "zeta", "G", "R"})
"""Names whose trailing 2 says that they are squares, as the field writes variances and bounds: sigma2, G2."""
SUM, SIGN, BIG, PRODUCT, POWER, ATOM = range(6)
"""How tightly a formula holds together; BIG ends with a sum that reaches to the next sign."""
_BOUND: Mapping[str, tuple[str, str, str]] = {"n": ("n=1", "N", "N"), "k": ("k=0", "K-1", "K")}
_TALL = re.compile(r"\\(?:frac|sum|left|sqrt|operatorname)")
_UPRIGHT = re.compile(r"\\(?:mathrm|operatorname)\{[^{}]*\}(?:_\{[^{}]*\})?\Z")


class _Set(NamedTuple):
    text: str
    binds: int


def latex_of(e: Expression, words: Vocabulary | None = None) -> str:
    r"""An expression in LaTeX.

    Args:
        e: the tree.
        words: what its names mean, which says whose a state is; without, states and taps are the server's.

    Example:
        >>> from theory.sentence import parse_expression
        >>> latex_of(parse_expression("(1 - eta*mu)**k*norm2(x0 - xstar)"))
        '(1-\\eta \\mu)^{k} \\|x^{0}-x^{\\star}\\|^{2}'
    """
    return _set(e, words or Vocabulary()).text


def latex_of_sentence(sentence: Sentence, words: Vocabulary | None = None) -> str:
    """``left relation right`` in LaTeX."""
    words = words or Vocabulary()
    return f"{latex_of(sentence.left, words)} {RELATIONS[sentence.relation]} {latex_of(sentence.right, words)}"


def latex_of_assumption(one: Predicate | Sentence, words: Vocabulary | None = None) -> str:
    """What a claim assumes, in LaTeX: a relation, or an assumption in a few words."""
    if isinstance(one, Sentence):
        return latex_of_sentence(one, words)
    if isinstance(one, ForEvery):
        listed = ",".join(name_in_latex(name) for name in one.over)
        return rf"\forall\, {listed}:\; {latex_of_sentence(one.sentence, one.words(words or Vocabulary()))}"
    constants = [one.matrix] if isinstance(one, Connected) else [latex_of(c, words) for c in one.constants]
    two = Number(Fraction(2))
    squares = [latex_of(Apply("**", (c, two)), words) for c in one.constants]  # type: ignore[arg-type]
    function = _function(one.function) if one.function else ""
    return one.latex.format(f=function, c=r",\ ".join(constants), squares=squares)


def latex_of_definitions(claim: Claim) -> dict[str, str]:
    """``name = formula`` in LaTeX for each definition, by its name."""
    from theory.sentence import parse_expression

    words = claim.vocabulary
    return {
        name: f"{name_in_latex(name)} = {latex_of(parse_expression(text), words)}" for name, text in claim.where.items()
    }


def latex_of_claim(claim: Claim) -> str:
    """A claim's sentence in LaTeX; its title where no sentence says it."""
    if not claim.has_sentence:
        return rf"\text{{{claim.title}}}"
    return latex_of_sentence(claim.sentence, claim.vocabulary)


def name_in_latex(name: str) -> str:
    """A name: a Greek letter, a letter, or a word upright; digits at its end, and what follows an underscore, below."""
    return _name(name).text


def _name(name: str) -> _Set:
    found = re.fullmatch(r"([A-Za-z]+?)_?(\d+|(?<=_)[A-Za-z0-9_]+|\d+_[A-Za-z0-9_]+)?_*", name)
    word, index = (found[1], found[2]) if found else (name.replace("_", r"\_"), None)
    letter = "lambda" if word == "lam" else word
    text = rf"\{letter}" if GREEK.fullmatch(letter) else word if len(word) == 1 else rf"\mathrm{{{word}}}"
    if index is None:
        return _Set(text, ATOM)
    if index == "2" and word in SQUARES and name == f"{word}2":
        return _Set(f"{text}^{{2}}", POWER)
    index = index.replace("_", ",")
    return _Set(
        rf"{text}_{{{index}}}" if index.isdigit() or len(index) == 1 else rf"{text}_{{\mathrm{{{index}}}}}", ATOM
    )


def _function(name: str) -> str:
    base, _, index = name.partition("_")
    return f"{base}_{{{index}}}" if index else base


def _set(e: Expression, words: Vocabulary) -> _Set:
    if isinstance(e, Number):
        return _number(e.value)
    if isinstance(e, Name):
        return _name_of(e.name, words)
    if isinstance(e, At):
        return _at(e, words)
    return _apply(e, words)


def _number(value: Fraction) -> _Set:
    sign, size = ("-", -value) if value < 0 else ("", value)
    text = str(size) if size.denominator == 1 else rf"\frac{{{size.numerator}}}{{{size.denominator}}}"
    return _Set(sign + text, SIGN if sign else ATOM if size.denominator == 1 else PRODUCT)


def _name_of(name: str, words: Vocabulary) -> _Set:
    if name == "fstar":
        return _Set(r"f^{\star}", POWER)
    if name in POINTS:
        index = POINTS[name]
        above = "0" if name == "x0" else r"\star"
        return _Set(f"x{f'_{{{index}}}' if index else ''}^{{{above}}}", POWER)
    base, index = index_of(name)
    if index and name not in words.definitions:  # p_n, eta_k, a_n
        inner = _name(base)
        return _Set(f"{inner.text}_{{{index}}}" if inner.text[-1:] != "}" else rf"{{{inner.text}}}_{{{index}}}", ATOM)
    return _name(name)


def _at(e: At, words: Vocabulary) -> _Set:
    kind = words.states.get(e.name) or words.taps.get(e.name, ("server", 0))[0]
    below = {"client": "n", "table": "ni"}.get(kind, "")
    base = _name(e.name).text
    if "_{" in base and below:
        base = base[:-1] + f",{below}}}" if base.endswith("}") else base
    elif below:
        base += f"_{{{below}}}"
    return _Set(f"{base}^{{{','.join(_set(i, words).text for i in e.indices)}}}", POWER)


def _apply(e: Apply, words: Vocabulary) -> _Set:
    operation, inner = e.operation, [_set(a, words) for a in parts(e)]
    first, second = inner[0], inner[-1]
    if operation == "neg":
        return _Set(f"-{_within(first, BIG)}", SUM if first.binds == BIG else SIGN)
    if operation == "+":
        # what begins with a sign stands in parentheses
        return _Set(f"{first.text}+{_within(second, BIG) if second.text.startswith('-') else second.text}", SUM)
    if operation == "-":
        return _Set(f"{first.text}-{_within(second, BIG)}", SUM)
    if operation == "*":
        return _product(first, second)
    if operation == "/":
        return _Set(rf"\frac{{{first.text}}}{{{second.text}}}", PRODUCT)
    if operation == "**":
        return _Set(f"{_within(first, ATOM)}^{{{second.text}}}", POWER)
    if operation == "sqrt":
        return _Set(rf"\sqrt{{{first.text}}}", ATOM)
    if operation == "abs":
        return _Set(_fenced("|", first.text, "|"), ATOM)
    if operation == "norm":
        return _Set(_fenced(r"\|", first.text, r"\|"), ATOM)
    if operation == "norm2":
        return _Set(_fenced(r"\|", first.text, r"\|") + "^{2}", POWER)
    if operation == "dot":
        return _Set(_fenced(r"\langle ", f"{first.text},{second.text}", r"\rangle"), ATOM)
    if operation == "E":
        return _Set(rf"\mathbb{{E}}{_fenced('[', first.text, ']')}", ATOM)
    if operation in OVER:
        return _over(operation, first)
    if operation == "quantile":
        return _Set(rf"\operatorname{{quantile}}_{{{second.text}}}{_fenced('(', first.text, ')')}", POWER)
    if operation == "simplex_n":
        minimised = f"{_within(first, PRODUCT)} a_{{n}}+{_within(second, PRODUCT)} a_{{n}}^{{2}}"
        minimised = rf"\sum_{{n}} {_fenced('(', minimised, ')')}"
        return _Set(rf"\left[\arg\min_{{a \in \Delta}} {minimised}\right]_{{n}}", ATOM)
    if operation == "argmin_n":
        ball = rf"_{{\|x\| \leq {second.text}}}" if len(inner) > 1 else ""
        return _Set(rf"\arg\min{ball} \sum_{{n}} {_within(first, PRODUCT)} f_{{n}}", BIG)
    function = operation.removeprefix("grad ")
    if function in FUNCTION_NAMES:
        nabla = r"\nabla " if operation.startswith("grad ") else ""
        return _Set(f"{nabla}{_function(function)}{_fenced('(', first.text, ')')}", POWER)
    if operation in ("min", "max"):
        listed = r",\ ".join(part.text for part in inner)
        return _Set(rf"\{operation}" + _fenced(r"\{", listed, r"\}"), POWER)
    known = rf"\{operation}" if operation in ("log", "exp") else rf"\operatorname{{{operation}}}"
    return _Set(f"{known}{_fenced('(', first.text, ')')}", POWER)


def _over(operation: str, inner: _Set) -> _Set:
    how, index = OVER[operation]
    body = _within(inner, BIG)
    if how == "first":
        return _Set(rf"{_fenced('[', inner.text, ']')}_{{n=1}}", POWER)
    if how in ("max", "min"):
        return _Set(rf"\{how}_{{{index}}} {body}", BIG)
    if index not in _BOUND:
        sign = r"\sum" if how == "sum" else r"\operatorname{mean}"
        return _Set(rf"{sign}_{{{index}}} {body}", BIG)
    first, last, count = _BOUND[index]
    share = rf"\frac{{1}}{{{count}}}" if how == "mean" else ""
    return _Set(rf"{share}\sum_{{{first}}}^{{{last}}} {body}", BIG)


def _product(first: _Set, second: _Set) -> _Set:
    left = first.text if first.binds == SIGN else _within(first, PRODUCT)
    right = _within(second, BIG)
    between = (
        r" \cdot "
        if right[0].isdigit() or (right.startswith(r"\frac{") and (left[-1].isdigit() or left.endswith("}")))
        else " "
    )
    if between == " " and (_UPRIGHT.search(left) or right.startswith((r"\mathrm", r"\operatorname"))):
        between = r" \," + ("" if right.startswith("\\") else " ")
    if first.binds == SIGN:
        return _Set(left + between + right, SUM if second.binds == BIG else SIGN)
    return _Set(left + between + right, BIG if second.binds == BIG else PRODUCT)


def _within(part: _Set, binds: int) -> str:
    """A part of something that binds so tightly."""
    return part.text if part.binds >= binds else _fenced("(", part.text, ")")


def _fenced(opening: str, text: str, closing: str) -> str:
    """In brackets, which grow with what is tall; bars also where there are such bars inside."""
    if _TALL.search(text) or (opening == closing and opening in text):
        return rf"\left{opening}{text}\right{closing}"
    return f"{opening}{text}{closing}"
