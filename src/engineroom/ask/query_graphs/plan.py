"""A plan that was pasted: where its time went, and where its estimates went wrong first.

EXPLAIN ANALYZE writes it as a tree or as JSON, MariaDB's ANALYZE FORMAT=JSON in steps of its own.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engineroom.errors import EngineRoomError

__all__ = ["OFF_BY", "STEP", "Step", "as_json", "read", "text", "times_off", "wrong_first"]

OFF_BY = 10  # from so many times on, more or fewer rows than estimated are worth a look
STEP = re.compile(
    r"(?P<step>\s*->.*?)(?:  \(cost=(?P<cost>[^ )]+)(?: rows=(?P<rows>[^ )]+))?\))?"
    r"(?:(?:  | )\((?:actual time=(?P<time>\S+) rows=(?P<actual>\S+) loops=(?P<loops>\d{1,18})|(?P<never>never executed))\))?$"
)
# What the mysql client prints around the first line of a plan, and around the last.
_BEFORE = re.compile(r"""^(?:\|\s|EXPLAIN:\s|["'])?(?=\s*->)""")
_BEHIND = re.compile(r"""(?<!\s)\s*+(?:\||(?<=\))["'])\s*+$""")
MOST_LEVELS = 200
_READS_ALL = ("Sort", "Aggregate using", "Materialize", "Hash", "Temporary table", "Select #")


@dataclass
class Step:
    """A step with its inputs. Rows and milliseconds are means of its loops; None where the plan does not tell."""

    name: str
    estimated_rows: float | None = None
    rows: float | None = None
    loops: int | None = None
    last_row_ms: float | None = None
    is_never: bool = False
    inputs: list[Step] = field(default_factory=list)

    @property
    def all_ms(self) -> float:
        """Of all its loops, with its inputs; of a step that is not measured, its inputs'."""
        if self.last_row_ms is None or self.loops is None:
            return sum(each.all_ms for each in self.inputs)
        return self.last_row_ms * self.loops

    @property
    def self_ms(self) -> float:
        """Without its inputs; times are rounded, so that a little less than nothing is nothing."""
        return max(0.0, self.all_ms - sum(each.all_ms for each in self.inputs))

    @property
    def off(self) -> float | None:
        """How many times as many rows came as were estimated."""
        return times_off(self.rows, self.estimated_rows)


def times_off(rows: Any, estimated: Any) -> float | None:
    """How many times as many rows came as were estimated, at least one of each; None where that is not known."""
    try:
        return max(1.0, float(rows)) / max(1.0, float(estimated))
    except (TypeError, ValueError, OverflowError):
        return None


def read(given: str, what: str) -> list[Step]:
    """The top steps of a plan. Raises EngineRoomError for what is none."""
    try:
        before, brace, _ = given.partition("{")
        found = _of_json(given) if brace and "->" not in before else _of_tree(given)
    except (RecursionError, TypeError, AttributeError) as error:
        raise _none(what) from error
    if not found:
        raise _none(what)
    if all(step.rows is None for step, _ in _each(found)):
        raise EngineRoomError(
            f"{what} has estimates only",
            remedy="EXPLAIN ANALYZE the statement, which runs it: then there are times and actual rows",
        )
    return found


def _none(what: str) -> EngineRoomError:
    return EngineRoomError(
        f"{what} holds no plan of EXPLAIN ANALYZE",
        remedy="paste what EXPLAIN ANALYZE says on MySQL 8.0.18 or later: a tree of lines with ->, or its JSON (SET explain_json_format_version = 2);"
        " or ANALYZE FORMAT=JSON of MariaDB",
    )


def _of_tree(given: str) -> list[Step]:
    if "\\n" in given and "\n " not in given:  # as a client without a table prints it
        given = given.replace("\\n", "\n")
    tops: list[Step] = []
    open_: list[tuple[int, Step]] = []  # the steps above the next, by their columns
    for line in given.splitlines():
        found = STEP.match(_BEHIND.sub("", _BEFORE.sub("", line)))
        if found is None:
            continue
        column = found["step"].index("->")
        step = Step(
            found["step"][column + 2 :].strip(),
            _number(found["rows"]),
            _number(found["actual"]),
            int(found["loops"]) if found["loops"] else None,
            _number(found["time"].rpartition("..")[2]) if found["time"] else None,
            found["never"] is not None,
        )
        while open_ and open_[-1][0] >= column:
            open_.pop()
        if len(open_) > MOST_LEVELS:
            return []
        (open_[-1][1].inputs if open_ else tops).append(step)
        open_.append((column, step))
    return tops


def _of_json(given: str) -> list[Step]:
    try:
        whole, _ = json.JSONDecoder().raw_decode(given[given.index("{") :])
    except ValueError:
        return []
    if "query_block" in whole:
        top = _of_mariadb("query_block", whole["query_block"])
        if all(step.rows is None for step, _ in _each([top])):
            raise EngineRoomError(
                "the JSON is of format version 1, which has estimates only",
                remedy="SET explain_json_format_version = 2 (8.3 and later) before EXPLAIN ANALYZE FORMAT=JSON, or give the tree: EXPLAIN ANALYZE;"
                " on MariaDB ANALYZE FORMAT=JSON",
            )
        return [top]
    return [_of_node(whole.get("query_plan", whole))]


def _of_node(node: Mapping[str, Any], depth: int = 0) -> Step:
    if depth > MOST_LEVELS:
        raise RecursionError
    loops = _number(node.get("actual_loops"))
    step = Step(
        str(node.get("operation", "a step without a name")),
        _number(node.get("estimated_rows")),
        _number(node.get("actual_rows")),
        int(loops) if loops is not None and math.isfinite(loops) else None,
        _number(node.get("actual_last_row_ms")),
        loops == 0,
        [_of_node(each, depth + 1) for each in node.get("inputs", [])],
    )
    return Step(str(node["heading"]), inputs=[step]) if "heading" in node else step


def _of_mariadb(kind: str, node: Mapping[str, Any], depth: int = 0) -> Step:
    """A step of ANALYZE FORMAT=JSON. Its times are sums over the loops; those of a table are without what the table is made from."""
    if depth > MOST_LEVELS:
        raise RecursionError
    inputs: list[Step] = []
    for name, value in node.items():
        if isinstance(value, dict) and not name.startswith("r_"):
            inputs.append(_of_mariadb(name, value, depth + 1))
        elif isinstance(value, list) and all(isinstance(each, dict) for each in value):
            of = [
                _of_mariadb(inner, each[inner], depth + 1)
                for each in value
                for inner in each
                if isinstance(each[inner], dict)
            ]
            inputs += [Step("nested loop", inputs=of)] if name == "nested_loop" and len(of) > 1 else of
    loops = _number(node.get("r_loops"))
    own = [
        ms for name in ("r_table_time_ms", "r_other_time_ms") if (ms := _number(node.get(name))) is not None
    ]
    whole = sum(own) + sum(each.all_ms for each in inputs) if own else _number(node.get("r_total_time_ms"))
    if "table_name" in node:
        title = f"{node.get('access_type', kind)} on {node['table_name']}" + (
            f" using {node['key']}" if "key" in node else ""
        )
    elif "select_id" in node:
        title = f"select #{node['select_id']}"
    else:
        title = kind.replace("_", " ") + (f": {node['sort_key']}" if "sort_key" in node else "")
    return Step(
        title,
        _number(node.get("rows")),
        _number(node.get("r_rows", node.get("r_output_rows"))),
        int(loops) if loops is not None and math.isfinite(loops) else None,
        whole / loops if whole is not None and loops else None,
        loops == 0,
        inputs,
    )


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _each(steps: Sequence[Step], depth: int = 0) -> Iterator[tuple[Step, int]]:
    for step in steps:
        yield step, depth
        yield from _each(step.inputs, depth + 1)


def wrong_first(steps: Sequence[Step], *, is_cut: bool = False) -> Step | None:
    """The first step in the order of execution that found far more or fewer rows than estimated, so that those above it inherit that.

    Below a LIMIT that reads on only until it has enough, fewer rows are no error.
    """
    for step in steps:
        ends_early = not step.name.startswith(_READS_ALL) and (is_cut or step.name.startswith("Limit"))
        if below := wrong_first(step.inputs, is_cut=ends_early):
            return below
        if step.off is not None and (step.off >= OFF_BY or (step.off <= 1 / OFF_BY and not is_cut)):
            return step
    return None


def as_json(steps: Sequence[Step]) -> dict[str, Any]:
    """As plain JSON types."""

    def of(step: Step) -> dict[str, Any]:
        own = {
            name: getattr(step, name)
            for name in ("name", "estimated_rows", "rows", "loops", "all_ms", "self_ms")
        }
        return {**own, "inputs": [of(each) for each in step.inputs]}

    first = wrong_first(steps)
    return {
        "all_ms": sum(step.all_ms for step in steps),
        "most_time": max(_each(steps), key=lambda each: each[0].self_ms)[0].name,
        "wrong_first": first.name if first else None,
        "steps": [of(step) for step in steps],
    }


def text(steps: Sequence[Step]) -> str:
    """The steps with their own time and both numbers of rows, and what to look at first."""
    whole = sum(step.all_ms for step in steps)
    lines = ["   self ms   of all       loops  rows estimated  rows found    off  step"]
    for step, depth in _each(steps):
        share = f"{100 * step.self_ms / whole:.0f} %" if whole else ""
        numbers = (
            f"{step.self_ms:10,.3f}  {share:>7}" if step.last_row_ms is not None else " " * 19,
            f"{'never' if step.is_never else _shown(step.loops):>10}  {_shown(step.estimated_rows):>14}  {_shown(step.rows):>10}",
            f"{_times(step.off):>6}",
        )
        lines.append("  ".join([*numbers, "  " * depth + "-> " + step.name]))
    slowest = max(_each(steps), key=lambda each: each[0].self_ms)[0]
    lines += [
        "",
        f"Most time: {slowest.name}: {slowest.self_ms:,.3g} of {whole:,.3g} ms, without what it reads from.",
    ]
    first = wrong_first(steps)
    lines.append(
        f"Rows went wrong first at: {first.name}: {_shown(first.estimated_rows)} estimated, {_shown(first.rows)} found per loop. "
        "What stands above it was chosen with that estimate."
        if first
        else f"No estimate of rows is off by {OFF_BY} times or more."
    )
    return "\n".join(lines)


def _shown(number: float | None) -> str:
    return "" if number is None else f"{number:,.4g}" if number < 10_000 else f"{number:,.0f}"


def _times(off: float | None) -> str:
    if off is None or 1 / 2 < off < 2:
        return ""
    return f"x {off:,.0f}" if off > 1 else f"/ {1 / off:,.0f}"
