"""What an experiment takes from its paper and what is chosen for it, declared with the values.

    @dataclass(frozen=True)
    class Setting:
        clients: int = stated(18, "{} agents")
        ridge: float = chosen(1e-3, "ridge {}")

The sentences of the settings come of it (`told`).
"""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any

STATED = "As the paper states"
CHOSEN = "Not stated there, and chosen here"
SIZED = "Size of this run"
ORIGINS = (STATED, CHOSEN, SIZED)


def stated(value: Any, words: str) -> Any:
    """A field with what the paper states; `words` have one {} for the value."""
    return _field(value, words, STATED)


def chosen(value: Any, words: str) -> Any:
    """A field with what the paper leaves open."""
    return _field(value, words, CHOSEN)


def sized(value: Any, words: str) -> Any:
    """A field of how much is simulated."""
    return _field(value, words, SIZED)


def _field(value: Any, words: str, origin: str) -> Any:
    return field(default=value, metadata={"words": words, "origin": origin})


def told(*declared: Any) -> tuple[str, ...]:
    """One sentence each of what is stated, chosen, and of the size; fields without words are left out.

    Args:
        declared: instances of dataclasses.
    """
    found: dict[str, list[str]] = {origin: [] for origin in ORIGINS}
    for one in declared:
        for entry in fields(one):
            if entry.metadata.get("words"):
                text = entry.metadata["words"].format(shown(getattr(one, entry.name)))
                found[entry.metadata["origin"]].append(text)
    return tuple(f"{origin}: {'; '.join(words)}." for origin, words in found.items() if words)


def shown(value: Any) -> str:
    """A value in a sentence: 10,000; 0.001; 0.1, 0.2 and 0.5."""
    if isinstance(value, list | tuple):
        parts = [f"({', '.join(map(shown, v))})" if isinstance(v, list | tuple) else shown(v) for v in value]
        return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else "none"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
