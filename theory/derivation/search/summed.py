"""What rounds add up to, without an induction: so that what is assumed may speak of their number, as tuned steps do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from theory.derivation.search.combining import combine
from theory.derivation.search.context import Context, Known, Line
from theory.derivation.search.numbers import powers
from theory.derivation.writing import telescope
from theory.sentence import Sentence, applied, parse_sentence


def over_all_rounds(context: Context) -> list[Line] | None:
    """A bound on a sum over the rounds, as one combination of what is so of each and of what it telescopes to."""
    program = context.claim.program
    if program is None or program.state[0].kind != "server":
        return None
    inside, statement = replace(context, summed=True), context.claim.statement
    of_powers = list(powers(context, statement))  # of a step like K**(-1/3)
    for given in _potentials(context, program.state[0].name, program.random):
        lines = combine(inside, statement, context.claim.label, [*given, *of_powers], stages=(0, 1))
        context.used = inside.used
        if lines is not None:
            return lines
    return None


def _potentials(context: Context, state: str, random: bool) -> Iterator[list[Known]]:
    """What may telescope: the distance to the minimiser, what f is, both."""
    found = []
    for e in (f"norm2({state}[k] - xstar)" if context.forms.has_minimiser else "", f"f({state}[k])"):
        if e and (context.claim.predicates or not e.startswith("f")):
            line = telescope(f"telescoped {e}", f"E({e})" if random else e, "sum_k", "K")
            whole = Known(str(line["name"]), line["sentence"], line, aside=True)
            said = parse_sentence(whole.sentence)
            falls = Sentence(applied("neg", (said.left,)), "<=", applied("neg", (said.right,)))
            part = {"by": "combination", "parts": [{"line": whole.name, "times": "-1"}]}
            found.append([whole, Known(f"falls, {e}", str(falls), part, 0.3)])
    yield from found
    if len(found) > 1:
        yield [one for some in found for one in some]
