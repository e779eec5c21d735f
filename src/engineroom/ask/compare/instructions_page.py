"""Instructions on two versions as one HTML page that loads nothing: a difference flame graph and tables.

`instructions.html.jinja` has the page; here is what it asks for.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jinja2

from engineroom.ask.compare import instructions as say
from engineroom.ask.compare.instructions import Counts
from engineroom.ask.pages import templates
from engineroom.measuring.callgrind import NAMELESS
from engineroom.measuring.instructions import Function

__all__ = ["Box", "boxes", "page"]

LEAST_PERCENT = 0.5  # of all instructions: a narrower box is hard to see
# Narrower boxes have room for a sign alone, or for nothing.
_NAMED_PERCENT, _SIGNED_PERCENT = 3, 1.2
# What comes before is the same for every statement.
_ROOT = "dispatch_command"
_SIGNS = {"grown": "▲", "shrunk": "▼", "new": "✚", "same": ""}


@dataclass(frozen=True, kw_only=True)
class Box:
    """One function under one call path: where it stands, what it is called, and how its name's count changed."""

    name: str
    kind: str  # grown | shrunk | new | same
    depth: int
    start_percent: float
    share_percent: float
    label: str
    lines: tuple[str, str, str]  # its name and both versions' numbers


def boxes(counts: Counts) -> list[Box]:
    """The newer version's call paths, callers below, as wide as their instructions.

    Versions are matched by function and not by path: a path of 5.7 is none of 9.7, whose executor is another one. So a box has the
    colour of all instructions of its function and of what that calls, wherever it was called from.
    """
    from engineroom.show import flame

    new = counts.last
    old = counts.first if len(counts.profiles) > 1 else None
    found = [(path[path.index(_ROOT) :] if _ROOT in path else path, n) for path, n in new.paths.items()]
    before = {each.name: each for each in old.functions} if old else {}
    after = {each.name: each for each in new.functions}
    made = []
    for path, start, share in flame.frames(found):
        if share < LEAST_PERCENT:
            continue
        name, now, was = path[-1], after[path[-1]], before.get(path[-1])
        # What has no name in one version may be another function in the other.
        is_compared = old is not None and not name.startswith(NAMELESS)
        kind = say.kind_of(was.inclusive if was else 0, now.inclusive) if is_compared else "same"
        growth = f"{now.inclusive / was.inclusive - 1:+.0%}" if was and kind in {"grown", "shrunk"} else ""
        both = functools.partial(_both, was, now) if old else functools.partial(_both, now, None)
        made.append(
            Box(
                name=name,
                kind=kind,
                depth=len(path) - 1,
                start_percent=round(start, 3),
                share_percent=round(share, 3),
                label=_label(share, _SIGNS[kind], name, growth),
                lines=(
                    name,
                    f"{share:.1f} % of {new.version}'s instructions, calls {both('calls')}",
                    f"with what it calls {both('inclusive')}, own {both('own')}",
                ),
            )
        )
    return made


def _both(first: Function | None, second: Function | None, what: str) -> str:
    """A number of the first, of none 0, and of the second, where there is one."""
    amounts = [_amount(getattr(first, what, 0))] + ([_amount(getattr(second, what))] if second else [])
    return " → ".join(amounts)


def _label(share: float, sign: str, *rest: str) -> str:
    if share < _NAMED_PERCENT:
        return sign if share >= _SIGNED_PERCENT else ""
    return " ".join(filter(None, (sign, *rest)))


def page(counts: Counts) -> str:
    """The whole page. All text of the statement and of the server is escaped."""
    return _template().render(counts=counts, say=say, boxes=boxes(counts) if counts.profiles else [])


@functools.cache
def _template() -> jinja2.Template:
    environment = templates(Path(__file__).parent)
    environment.globals |= {"in_short": _in_short}
    return environment.get_template("instructions.html.jinja")


def _in_short(counts: Counts) -> Iterator[str]:
    """What a reader asks first."""
    old, new = counts.first, counts.last
    if old is new:
        yield f"{new.version} takes {new.instructions:,} instructions."
        return
    yield (
        f"{new.version} takes {new.instructions:,} instructions, {new.instructions / old.instructions:.2f} times the "
        f"{old.instructions:,} of {old.version}."
    )
    more, _ = say.moved(counts.changes)
    if more and new.instructions > old.instructions:
        most = ", ".join(f"{change.name} ({change.more:+,})" for change in more[:3])
        yield f"Most was added in {most}."


def _amount(n: int) -> str:
    """A count in three digits."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return str(n)
