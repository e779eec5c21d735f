"""A statement's instructions on several versions, or on two sides of one: in total, by function, and what grew from first to last."""

from __future__ import annotations

import contextlib
import functools
import textwrap
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from engineroom import listing, sql_text
from engineroom.ask.compare import repeating, report, sides
from engineroom.ask.compare.loading import Session
from engineroom.ask.compare.sides import Comparison, Side
from engineroom.errors import EngineRoomError
from engineroom.measuring import instructions
from engineroom.measuring.callgrind import NAMELESS
from engineroom.measuring.instructions import Counted, Profile

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = ["LIMIT_S", "Change", "Counts", "changes", "count", "json_of", "kind_of", "text"]

LIMIT_S = 60.0
SAME = 0.05  # a smaller share of growth is what another compiler makes of the same source
_WIDTH = 100
_SHOWN = 12
MATCHED = (
    "Functions are matched by name. What only one version knows by name (it is new, or the compiler put it into its caller in the other) "
    "counts under its nearest caller that both know."
)
_NAME = 52
_WITHIN = 3


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What the sides answered, and the profiles of those that ran the statement, in order; of two sides of one version they have their names."""

    comparison: Comparison
    profiles: tuple[Profile, ...]

    @property
    def first(self) -> Profile:
        return self.profiles[0]

    @property
    def last(self) -> Profile:
        return self.profiles[-1]

    @functools.cached_property
    def changes(self) -> list[Change]:
        """Functions from the first version to the last; none where one version alone was counted."""
        return changes(self.first, self.last) if len(self.profiles) > 1 else []

    def side(self, profile: Profile) -> Side:
        """What the side of a profile answered."""
        return next(side for side in self.comparison.sides if side.name == profile.version)


@dataclass(frozen=True, kw_only=True)
class Change:
    """One function, by short name, before and after: instructions of its own, those with all that it calls, and its calls.

    A compiler puts a function into its caller in one version and not in the other, and a build without symbols hides its name. So what
    is compared is `net`: own instructions, and those of functions below that only one of the two versions knows. Over the functions that
    both know these add up to the whole difference. `within` are the largest of those below, by name, in the newer version.
    """

    name: str
    full_names: tuple[str, ...]
    net: tuple[int, int]
    own: tuple[int, int]
    inclusive: tuple[int, int]
    calls: tuple[int, int]
    within: tuple[tuple[str, int], ...]

    @property
    def more(self) -> int:
        """Net instructions that were added."""
        return self.net[1] - self.net[0]

    @property
    def kind(self) -> str:
        """new | gone for what one version knows, else grown | shrunk | same by net instructions."""
        return kind_of(*self.net) if min(self.inclusive) else kind_of(*self.inclusive)


def kind_of(before: int, after: int) -> str:
    """How a count changed, in a word."""
    if not before or not after:
        return "new" if after else "gone" if before else "same"
    share = after / before - 1
    return "same" if abs(share) < SAME else "grown" if share > 0 else "shrunk"


def changes(before: Profile, after: Profile) -> list[Change]:
    """Every function of two profiles, what grew most first."""
    old = {function.name: function for function in before.functions}
    new = {function.name: function for function in after.functions}
    common = {name for name in old.keys() & new.keys() if not name.startswith(NAMELESS)}
    old_net, new_net = _net(before, common), _net(after, common)

    def pair(name: str, what: str) -> tuple[int, int]:
        return getattr(old.get(name), what, 0), getattr(new.get(name), what, 0)

    found = [
        Change(
            name=name,
            full_names=(new.get(name) or old[name]).full_names,
            net=(old_net[name].total(), new_net[name].total()),
            own=pair(name, "own"),
            inclusive=pair(name, "inclusive"),
            calls=pair(name, "calls"),
            within=tuple((below, n) for below, n in new_net[name].most_common(_WITHIN + 1) if below != name)[
                :_WITHIN
            ],
        )
        for name in old | new
    ]
    return sorted(found, key=lambda change: (-change.more, change.name))


def _net(profile: Profile, common: set[str]) -> defaultdict[str, Counter[str]]:
    """Own instructions of each path's function, under the path's last function that both versions know."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path, n in profile.paths.items():
        known = next((name for name in reversed(path) if name in common), path[0])
        found[known][path[-1]] += n
    return found


class _Started(dict[str, "Server"]):
    """Servers under Valgrind that start together when the first is asked for: by then the reader's files are known to be good.

    Each has a version and options, and the name of its side.
    """

    def __init__(
        self,
        running: contextlib.ExitStack,
        asked: Mapping[str, tuple[str, Mapping[str, str | int | bool]]],
    ) -> None:
        super().__init__()
        self._running, self._asked = running, asked
        self.counted: dict[str, Counted] = {}

    def __missing__(self, name: str) -> Server:
        def start(asked: tuple[str, Mapping[str, str | int | bool]]) -> Counted:
            version, options = asked
            return self._running.enter_context(instructions.counting(version, options=options, confined=True))

        with ThreadPoolExecutor() as pool:
            self.counted |= zip(self._asked, pool.map(start, self._asked.values()), strict=True)
        self |= {name: counted.server for name, counted in self.counted.items()}
        return self[name]


def count(
    statement: str,
    *,
    versions: Sequence[str] = ("5.7", "9.7"),
    options: Mapping[str, str | int | bool] | None = None,
    as_installed: bool = False,
    limit_s: float | None = None,
    b: sides.Variant | None = None,
    **files: Any,
) -> Counts:
    """Count `statement` on each version, or on A and B of one, under Valgrind; arguments are those of `sides.compare_many`.

    performance_schema is off unless `options` or `as_installed` say otherwise. A statement that changes rows is rolled back.
    EngineRoomError for what cannot be counted here, and for a run that takes longer than `limit_s` (60 s without one).
    """
    instructions.require()
    statement = sql_text.one_statement(statement, "the query")
    for text in (statement, *([b.statement] if b and b.statement else [])):
        main = repeating.verb(text)
        if main not in repeating.READS | repeating.CHANGES:
            raise EngineRoomError(
                f"{main or 'it'} cannot be run again and again, as counting needs",
                remedy="count a statement that reads rows or changes them",
            )
    limit_s = LIMIT_S if limit_s is None else limit_s
    shown = {**({} if as_installed else instructions.SETTINGS), **(options or {})}
    chosen = (
        {"performance_schema": "ON", **sides.AS_INSTALLED} if as_installed else dict(sides.EQUAL_SETTINGS)
    )
    profiles: dict[str, Profile] = {}
    with contextlib.ExitStack() as running:
        made_equal = {**chosen, **shown}
        asked = {version: (version, made_equal) for version in versions}
        if b is not None and versions:
            asked = {"A": (versions[0], made_equal), "B": (versions[0], {**made_equal, **b.options})}
        started = _Started(running, asked)

        def beside(key: str, side: Side, here: Session) -> None:
            text = side.statement or statement
            undo = here.undo(text)
            if undo.copy:
                raise EngineRoomError(
                    f"it cannot be run again and again, as counting needs: {undo.why}",
                    remedy="give the tables ENGINE=InnoDB, or compare CPU time without --instructions",
                )
            found = started.counted[key].measure(
                text,
                before="START TRANSACTION" if undo.rollback else None,
                after="ROLLBACK" if undo.rollback else None,
                rows=max(1, rows_of(side)[0]),
                connection=here.connection,
                limit_s=limit_s,
            )
            profiles[key] = replace(found, version=side.name)

        (comparison,) = sides.compare_many(
            [statement],
            versions=versions,
            options=shown,
            as_installed=as_installed,
            limit_s=limit_s,
            on=started,
            only_answers=True,
            beside=beside,
            b=b,
            **files,
        )
    return Counts(comparison=comparison, profiles=tuple(profiles.values()))


def rows_of(side: Side) -> tuple[int, str]:
    """The rows that a count is divided by, and what they are."""
    if side.affected_rows is not None and side.affected_rows > 0:
        return side.affected_rows, "changed"
    return sum(n for name, n in side.counters.items() if name.startswith("Handler_read_")), "read"


def json_of(counts: Counts) -> dict[str, Any]:
    """Everything as plain JSON types; CPU times are left out, since Valgrind made them."""
    plain = counts.comparison.json()
    for side in plain["sides"]:
        for name in ("server_cpu_s", "cpu_repeats_s", "wall_s"):
            del side[name]
    del plain["repeats"], plain["control_cpu_s"]
    return {
        **plain,
        "instructions": [
            {
                "version": profile.version,
                "instructions": profile.instructions,
                "rows": profile.rows,
                "rows_are": rows_of(counts.side(profile))[1],
                "repeats": profile.repeats,
                "is_settled": profile.is_settled,
                "nameless_share": profile.nameless_share,
                "other_threads": profile.others,
                "other_threads_idle": profile.others_idle,
                "functions": [asdict(function) for function in profile.functions],
            }
            for profile in counts.profiles
        ],
        "changes": [{**asdict(change), "kind": change.kind} for change in counts.changes],
    }


def text(counts: Counts) -> str:
    """The whole as lines: instructions, functions that grew and shrank, results, plans."""
    comparison = counts.comparison
    if not counts.profiles:
        return report.text(comparison)
    lines = report.statement_lines(comparison)
    lines += ["", *listing.table(["", *(profile.version for profile in counts.profiles)], totals(counts)), ""]
    lines += textwrap.wrap(about(counts), _WIDTH)
    if found := counts.changes:
        old, new = counts.first.version, counts.last.version
        more, less = moved(found)
        head = ["", old, new, "difference", f"calls in {old}", new]
        lines += ["", f"More in {new} than in {old}, by function:", *listing.table(head, change_rows(more))]
        if below := [f"    {_cut(each.name)}: {within(each)}" for each in more if within(each)]:
            lines += [f"  Of it, in functions that {new} alone knows by name:", *below]
        lines += ["", f"Less in {new}, by function:", *listing.table(head, change_rows(less))]
        lines += ["", *textwrap.wrap(MATCHED, _WIDTH)]
    else:
        rows = [
            [_cut(each.name), f"{each.own:,}", f"{each.inclusive:,}", f"{each.calls:,}"]
            for each in counts.first.functions[:_SHOWN]
        ]
        lines += ["", *listing.table(["", "own", "with what it calls", "calls"], rows)]
    lines += ["", f"Results: {comparison.results}"]
    for where, some_rows in comparison.differing_rows().items():
        lines.append(f"  {where}: {report.rows_text(some_rows)}")
    lines += report.remark_lines(comparison)
    lines += [side.refusal for side in comparison.sides if side.refused]
    for side in comparison.measured:
        lines += ["", f"Plan of {side.name}:"]
        lines += [f"  {line}" for line in (side.plan or f"none: {side.plan_refused}").splitlines()]
    lines += ["", *textwrap.wrap(settings(comparison), _WIDTH)]
    return "\n".join(line.rstrip() for line in lines)


def totals(counts: Counts) -> list[list[str]]:
    """The head of both reports: a row per fact, a cell per version."""
    profiles = counts.profiles
    rows_are = rows_of(counts.side(counts.first))[1]
    return [
        ["instructions", *(f"{profile.instructions:,}" for profile in profiles)],
        ["times the first", *(f"{each.instructions / counts.first.instructions:.2f}" for each in profiles)],
        [f"rows {rows_are}", *(f"{profile.rows:,}" for profile in profiles)],
        [f"instructions per row {rows_are}", *(f"{profile.per_row:,.0f}" for profile in profiles)],
        ["two repeats apart", *(f"{profile.differs_by:.2%}" for profile in profiles)],
        ["in functions without a name", *(f"{profile.nameless_share:.0%}" for profile in profiles)],
        ["other threads meanwhile", *(f"{profile.others:,}" for profile in profiles)],
        ["  in that time when idle, at most", *(f"{profile.others_idle:,}" for profile in profiles)],
    ]


def about(counts: Counts) -> str:
    """What was counted, and which of it to doubt."""
    said = "Instructions of the connection's thread in one run of the statement, counted by Valgrind; caches and waiting are not in them."
    if any(profile.nameless_share > 0.01 for profile in counts.profiles):
        said += " A build without symbols hides names: such functions stand under their nearest caller that has one."
    for profile in counts.profiles:
        if not profile.is_settled:
            said += (
                f" {profile.version} did not settle: the last two of {len(profile.repeats)} runs are {profile.differs_by:.1%} apart, and a "
                "smaller difference says nothing."
            )
    return said


def moved(found: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """The changes that added most instructions, and those that took most away."""
    more = [change for change in found if change.more > 0]
    less = [change for change in reversed(found) if change.more < 0]
    return more[:_SHOWN], less[:_SHOWN]


def change_rows(found: Sequence[Change]) -> list[list[str]]:
    """Changes as cells: name, both counts, the difference, both numbers of calls."""
    return [
        [
            _cut(change.name),
            f"{change.net[0]:,}",
            f"{change.net[1]:,}",
            f"{change.more:+,}",
            f"{change.calls[0]:,}",
            f"{change.calls[1]:,}",
        ]
        for change in found
    ]


def within(change: Change) -> str:
    """What only the newer version knows below a function, where that is a tenth of it or more."""
    least = change.net[1] / 10
    return ", ".join(f"{name} {n:,}" for name, n in change.within if n >= least)


def settings(comparison: Comparison) -> str:
    """Which settings were made equal."""
    made_equal = ", ".join(f"{name}={value}" for name, value in comparison.equal_settings.items())
    return f"Settings made equal: {made_equal or 'none, each version has its own'}."


def _cut(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 3]}..."
