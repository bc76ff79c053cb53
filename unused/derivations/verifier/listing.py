"""A program for people, one line a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .reading import shown
from .sentences import STRENGTH, Node
from .steps import Loop, Program, Step

SHOWN: Mapping[str, str] = {
    "gradient": "the gradient of f_n at {0}",
    "full gradient": "the gradient of f at {0}",
    "each": "{0}, for every client",
    "mean": "the mean over the clients of {0}",
    "sum": "the sum over the clients of {0}",
    "noise": "noise, E norm2 = {a}",
    "choose": "{a} of the N clients, uniformly: 1, else 0",
    "coins": "1 with chance {a}, else 0, for every client anew",
    "coin": "1 with chance {a}, else 0, one for all",
    "before": "1 where {a} < {b}, else 0",
    "average": "the average over the clients of {0}, weighted with {a}; 0 if the weights are all 0",
    "where": "{0} where {a} is not 0, else {1}",
    "keep": "{a} random coordinates of {0}, times d/{a}",
    "top": "the {a} largest coordinates of {0}",
    "prox": "the proximal point of {a} f_n at {0}",
    "project": "{0}, projected onto the ball of radius {a}",
    "clip": "{0}, clipped to norm {a}",
    "times": "{0} times {1}, by coordinates",
    "over": "{0} over {1}, by coordinates",
    "larger": "the larger of {0} and {1}, by coordinates",
    "sqrt": "the roots of the coordinates of {0}",
    "sign": "the signs of the coordinates of {0}",
    "norm": "the norm of {0}",
    "ones": "(1, ..., 1)",
    "shift": "{1} in front of {0}, the oldest gone",
    "mix": "sum over m of {label}[n,m] {0}_m",
    "combine": "sum over j of {label}_j {0}_j",
    "sample": "{a} sample(s) of every client, uniformly",
}


def listing(program: Program) -> Iterator[str]:
    """The round, one line a step."""
    names = {f"_{i}": s.name for i, s in enumerate(program.state)}
    yield f"{program.name or 'program'}({', '.join(program.parameters)}); at first " + "; ".join(
        f"{s.name} = {shown(s.text)}" for s in program.state
    )
    yield from _lines(program.body, names, program.taps, "  ")
    for s, value, copied in zip(program.state, program.result, program.copied, strict=True):
        yield f"  next {s.name} = {_called(value, names)}{', for every client' if copied else ''}"


def _called(value: str, names: Mapping[str, str]) -> str:
    return names.get(value, f"v{value[1:]}")


def _number(tree: Node, names: Mapping[str, str], outer: int = 0) -> str:
    """A formula, with the brackets that it needs."""
    if tree.op == "number":
        return str(tree.value)
    if tree.op == "name":
        return _called(tree.name, names) if tree.name.startswith("_") else tree.name
    if tree.op not in STRENGTH and tree.op != "neg":
        return f"{tree.op}({', '.join(_number(a, names) for a in tree.args)})"
    own = STRENGTH.get(tree.op, 3)
    if tree.op == "neg":
        text = f"-{_number(tree.args[0], names, own)}"
    else:
        left = _number(tree.args[0], names, own + (tree.op == "**"))
        right = _number(tree.args[1], names, own + (tree.op in "-/"))
        text = f"{left} {tree.op} {right}" if own == 1 else f"{left}{tree.op}{right}"
    return f"({text})" if own < outer else text


def _lines(
    steps: Sequence[Step | Loop],
    names: Mapping[str, str],
    taps: Mapping[str, tuple[str, tuple[Loop, ...]]],
    indent: str,
) -> Iterator[str]:
    for step in steps:
        if isinstance(step, Loop):
            for c in step.carried:
                yield f"{indent}{_called(c.name, names)} = {_called(c.first, names)}"
            head = {"visit": "for every client, in random order:", "pass": "for every own sample, in random order:"}
            count = "" if step.count is None else _number(step.count.tree, names)
            yield indent + head.get(step.op, f"repeat {count} times, {step.index} = 0, 1, ...:")
            if step.op == "pass":
                yield f"{indent}  {_called(step.index, names)} = that sample"
            yield from _lines(step.body, names, taps, indent + "  ")
            for c in step.carried:
                yield f"{indent}  {_called(c.name, names)} = {_called(c.following, names)}"
            continue
        of = [_called(value, names) for value in step.of]
        numbers = [_number(scalar.tree, names) for scalar in step.numbers]
        if step.op == "tap":
            turns = ["k", "h", "j"][: 1 + len(taps[step.label][1])]
            yield f"{indent}{step.label}[{', '.join(turns)}] is {of[0]}"
            continue
        if step.op == "linear":
            terms = [
                v if c == "1" else f"-{v}" if c == "-1" else f"({c})*{v}" for c, v in zip(numbers, of, strict=True)
            ]
            text = " + ".join(terms)
        elif step.op == "gradient" and len(of) == 2:
            text = f"the gradient of f_ni at {of[0]}, i = {of[1]} (the mean over a batch)"
        elif step.op in ("get", "put"):
            entry = f"the mean over {of[1] if len(of) > 1 else 'all samples'} of the table {of[0]}"
            text = entry if step.op == "get" else f"the table {of[0]} with {of[2]} at {of[1]}"
        else:
            text = SHOWN[step.op].format(*of, **dict(zip("ab", numbers, strict=False)), label=step.label)
        yield f"{indent}{_called(step.to, names)} = {text}{', with replacement' if step.replace else ''}"
