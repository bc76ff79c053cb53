"""Claims that say what they mean, as `fedproof show` prints them."""

from __future__ import annotations

from typing import Any

from theory.predicates import Predicate
from theory.program import pseudo_code
from theory.sentence import index_of
from theory.written import Claim


def as_text(claim: Claim) -> str:
    """The sentence, what it assumes, what its names are, and the algorithm in words."""
    lines = [f"{claim.id}  ({claim.kind}{f', {claim.equation}' if claim.equation else ''})"]
    lines += [claim.title] if claim.title else []
    lines += [f"source: {claim.source}"] if claim.source else []
    lines += ["", f"  {claim.statement}", ""]
    lines += [f"where {name} = {text}" for name, text in claim.where.items()]
    lines += [f"assuming {text}" for text in map(_meaning, claim.assuming, _read(claim, len(claim.assuming)))]
    rest = _read(claim, len(claim.assuming), after=True)
    lines += [f"standing (fixed elsewhere in the paper): {text}" for text in map(_meaning, claim.standing, rest)]
    lines += [f"{name} in {domain}" for name, domain in claim.domains.items()]
    lines += [f"free vectors: {', '.join(claim.vectors)}"] if claim.vectors else []
    lines += [f"for every {', '.join(sorted(claim.free))}"] if claim.free else []
    if claim.program is not None:
        lines += ["", pseudo_code(claim.program)]
    lines += ["", *claim.remarks] if claim.remarks else []
    return "\n".join(lines)


def _read(claim: Claim, count: int, after: bool = False) -> list[Any]:
    everything = claim.assumptions
    return list(everything[count:] if after else everything[:count])


def _meaning(text: str, one: Any) -> str:
    return str(one) if isinstance(one, Predicate) else text


def as_json_of(claim: Claim) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "id": claim.id,
        "kind": claim.kind,
        "equation": claim.equation,
        "title": claim.title,
        "source": claim.source,
        "statement": claim.statement,
        "assuming": list(claim.assuming),
        "standing": list(claim.standing),
        "where": dict(claim.where),
        "vectors": list(claim.vectors),
        "parameters": {symbol: str(claim.domains[index_of(symbol)[0]]) for symbol in claim.symbols},
        "free": sorted(claim.free),
        "algorithm": None if claim.program is None else claim.program.to_json(),
        "amends": claim.amends,
        "remarks": list(claim.remarks),
    }
