"""A program for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theory.formula import Formula, Name, Number, names_in
from theory.program.data import DRAWS, Instruction, Program, Step, renamed, uses

_OPERATORS = {"+", "-", "*", "/", "**", "neg"}
BY_COORDINATES = " by coordinates"  # said once, at the end
_WORDS: Mapping[str, str] = {
    "gradient": "grad f_n({0})",
    "full gradient": "grad f({0})",
    "each": "{0}",
    "mean": "mean_n({0})",
    "sum": "sum_n({0})",
    "noise": "noise of variance {a}",
    "choose": "{a} of the N clients, uniformly",
    "coins": "coins of chance {a}, one a client",
    "coin": "coin of chance {a}",
    "before": "[{a} < {b}]",
    "average": "average of {0} over {a}",
    "where": "{0} if {a} else {1}",
    "keep": "random {a} coordinates of {0}, times d/{a}",
    "top": "largest {a} coordinates of {0}",
    "prox": "prox of {a} f_n at {0}",
    "project": "{0} projected onto the ball of radius {a}",
    "clip": "{0} clipped to norm {a}",
    "times": "{0} o {1}",
    "over": "{0} / {1}" + BY_COORDINATES,
    "larger": "max({0}, {1})" + BY_COORDINATES,
    "sqrt": "sqrt({0})" + BY_COORDINATES,
    "sign": "sign({0})",
    "norm": "norm({0})",
    "ones": "(1, ..., 1)",
    "shift": "{1} in front of {0}",
    "mix": "sum_m {label}[n,m] {0}",
    "combine": "sum_j {label}_j {0}_j",
}


@dataclass(frozen=True)
class PseudoCode:
    """A program as lines for people.

    Attributes:
        lines: the first says name, parameters and start, the others one round.
        of: by the name of a value, the line in which it is computed.
        results: the lines of the state after the round, one a variable.
        called: by the name of a value that has one, what it is called, without the n of a client.
    """

    lines: tuple[str, ...]
    of: Mapping[str, int]
    results: tuple[int, ...]
    called: Mapping[str, str]


def pseudo_code(program: Program) -> str:
    """The program as text for people: one line a value that the author named or that is used more than once."""
    return "\n".join(pseudo_lines(program).lines)


def pseudo_lines(program: Program) -> PseudoCode:
    """The lines of `pseudo_code`, and what stands in which."""
    used = uses(program.body, program.result)
    kinds = program.kinds
    texts: dict[str, str] = {}
    taken: set[str] = set()
    names: dict[str, str] = {}

    def called(name: str, hint: str) -> str:
        stem = hint or {"sample": "i", "number": "s", "numbers": "s"}.get(kinds.get(name, ""), "v")
        base = stem + ("_n" if kinds.get(name) in ("client", "numbers", "sample", "client past") else "")
        text, more = base, 2
        while text in taken:
            text, more = f"{base}{more}" if not base.endswith("_n") else f"{stem}{more}_n", more + 1
        taken.add(text)
        names[name] = text.removesuffix("_n")
        return text

    for name, s in zip(program.inputs, program.state, strict=True):
        texts[name] = called(name, s.name)

    def number(formula: Formula) -> str:
        return _plain(renamed(formula, lambda name: texts.get(name, name)))

    def expression(step: Instruction) -> str:
        if step.op == "linear":
            return _sum_text([(number(c), texts[v]) for c, v in zip(step.numbers, step.of, strict=True)])
        parts = [texts[v] for v in step.of]
        if step.op in ("over", "larger", "sqrt"):
            parts = [_within(part) for part in parts]
        if step.op in ("larger", "sqrt"):
            parts = [part[1:-1] if part.startswith("(") and _wrapped(part) else part for part in parts]
        if step.op == "gradient" and len(parts) == 2:
            return f"grad f_{{n,{parts[1]}}}({parts[0]})"
        if step.op == "get":
            return f"{parts[0]}[{parts[1]}]" if len(parts) == 2 else f"mean_i({parts[0]}[i])"
        if step.op == "put":
            return f"{parts[0]} with [{parts[1]}] = {parts[2]}"
        if step.op == "sample":
            how = "" if step.flag else ", without replacement"
            size = number(step.numbers[0])
            return "a sample, uniformly" if size == "1" else f"{size} samples, uniformly{how}"
        letters = dict(zip("ab", map(number, step.numbers), strict=False))
        return _WORDS[step.op].format(*parts, **letters, label=step.label)

    first = "; ".join(f"{s.name} = {s.text}" for s in program.state)
    lines = [f"{program.name}({', '.join(program.parameters)}), from {first}; one round:"]
    places: dict[str, int] = {}
    within: dict[str, tuple[str, ...]] = {}  # values that have no line of their own, with those in them

    def placed(names: Sequence[str]) -> None:
        for name in names:
            places[name] = len(lines)
            placed(within.pop(name, ()))

    def write(steps: Sequence[Step], indent: str, turns: tuple[str, ...] = ("k",)) -> None:
        for step in steps:
            if isinstance(step, Instruction):
                if step.op == "tap":
                    lines.append(f"{indent}# {step.label}[{', '.join(turns)}] is {texts[step.of[0]]}")
                    continue
                text = expression(step)
                inner = [*step.of, *(name for f in step.numbers for name in sorted(names_in(f)))]
                within[step.to] = tuple(name for name in inner if name in within)
                if used.get(step.to, 0) > 1 or step.op in DRAWS or step.hint:
                    texts[step.to] = called(step.to, step.hint)
                    placed([step.to])
                    lines.append(f"{indent}{texts[step.to]} {'~' if step.op in DRAWS else '='} {text}")
                else:
                    texts[step.to] = text if step.op not in ("linear", "where") else f"({text})"
                continue
            for c in step.carried:
                texts[c.name] = called(c.name, c.hint)
                placed([c.name])
                lines.append(f"{indent}{texts[c.name]} = {texts[c.first]}")
            head = {
                "repeat": f"repeat {'' if step.count is None else number(step.count)} times, {step.index} = 0, 1, ...:",
                "visit": "for every client, in random order:",
                "pass": "for every sample of the client, in random order:",
            }[step.op]
            if step.op == "pass":
                texts[step.index] = called(step.index, "i")
            lines.append(f"{indent}{head}")
            write(step.body, indent + "    ", (*turns, step.index if step.op == "repeat" else "turn"))
            changed = [(texts[c.name], texts[c.following]) for c in step.carried]
            if changed:
                left, right = (", ".join(part) for part in zip(*changed, strict=True))
                lines.append(f"{indent}    {left} = {right}")

    write(program.body, "    ")
    results = []
    for s, name in zip(program.state, program.result, strict=True):
        if name in within:
            placed([name])
        results.append(len(lines))
        mine = f"{s.name}{'_n' if s.kind == 'client' else ''}"
        text = texts[name]
        lines.append(f"    next {mine} = {text[1:-1] if text.startswith('(') and _wrapped(text) else text}")
    return PseudoCode(tuple(lines), places, tuple(results), names)


def _within(text: str) -> str:
    """A part of what is done by coordinates, which is said of the whole; a quotient in parentheses."""
    short = text.removesuffix(BY_COORDINATES)
    called = short.startswith(("sqrt(", "max(")) and _wrapped(short[short.index("(") :])
    return short if short == text or called else f"({short})"


def _wrapped(text: str) -> bool:
    """Whether the first parenthesis closes at the end."""
    depth = 0
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return i == len(text) - 1
    return False


_STRENGTH = {"+": 1, "-": 1, "neg": 2, "*": 3, "/": 3, "**": 5}


def _plain(formula: Formula, outer: int = 0) -> str:
    """Text with the parentheses that it needs."""
    if isinstance(formula, Number):
        return str(formula.value)
    if isinstance(formula, Name):
        return formula.name
    op, parts = formula.operation, formula.arguments
    if op not in _OPERATORS:
        return f"{op}({', '.join(_plain(a) for a in parts)})"
    own = _STRENGTH[op]
    if op == "neg":
        text = f"-{_plain(parts[0], own)}"
    else:
        left = _plain(parts[0], own + (op == "**"))
        right = _plain(parts[1], own + (op in ("-", "/")))
        text = f"{left}{f' {op} ' if op in '+-' else op}{right}"
    return f"({text})" if own < outer else text


def _sum_text(terms: Sequence[tuple[str, str]]) -> str:
    text = ""
    for factor, vector in terms:
        negative = factor.startswith("-") and not any(s in factor for s in (" + ", " - "))
        size = factor[1:] if negative else factor
        if " + " in size or " - " in size:
            size = f"({size})"
        part = vector if size == "1" else f"{size}*{vector}"
        if not text:
            text = f"-{part}" if negative else part
        else:
            text += f" {'-' if negative else '+'} {part}"
    return text
