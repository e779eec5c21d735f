"""One server of the capstone solved, as an answer with all points would have it: for the instructor's guide, every number computed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection

from engineroom.teach import capstone

__all__ = ["PLAN", "SEED", "bounds", "gain", "predicted", "written"]

SEED = 5  # whose causes are the three below; `bounds` knows no others
PLAN = ("counter", "pool", "disk")  # in the order of mending
ROUND_TRIPS = 9  # of an order: eight statements and a commit
# A commit waits for the rest of the fsync that runs, half of it on average, and for its own.
FSYNCS_WAITED = 1.5


def bounds(left: Collection[str]) -> dict[str, float]:
    """Orders per second that each bound allows while these causes are left, worked out from what a student sees."""
    fast, slow = _seen()
    away_ms = _away_ms()
    commit_ms, healthy_ms = (
        FSYNCS_WAITED * seen["ms_per_fsync"] for seen in (slow if "disk" in left else fast, fast)
    )
    response_ms = fast["ms_per_order"] - healthy_ms + commit_ms
    connections = (slow if "pool" in left else fast)["connections"]
    held_ms = away_ms / ROUND_TRIPS + commit_ms
    return {
        "the connections": 1000 * connections / (away_ms + response_ms),
        "the one row": 1000 / held_ms if "counter" in left else math.inf,
        "as before": fast["orders_per_s"],
    }


def predicted(left: Collection[str]) -> float:
    """Orders per second: the least bound."""
    return min(bounds(left).values())


def gain(left: Collection[str]) -> float:
    """How many times as many orders the simulated server does as the slow one, with only these causes left."""
    planted = capstone.causes(SEED)
    return capstone.orders_per_s({name: planted[name] for name in left}) / capstone.orders_per_s(planted)


def _seen() -> tuple[dict[str, float], dict[str, float]]:
    return capstone.counters({}), capstone.counters(capstone.causes(SEED))


def _away_ms() -> float:
    """Per order of the fast server: what a connection is away between the statements."""
    fast, _ = _seen()
    return 1000 * (fast["connections"] - fast["connections_busy"]) / fast["orders_per_s"]


def _left(*mended: str) -> list[str]:
    return [name for name in PLAN if name not in mended]


def _digits(number: float) -> str:
    """Three digits."""
    short = float(f"{number:.3g}")
    return f"{short:,.0f}" if short >= 100 else f"{short:g}"


def _table(head: str, rows: Collection[tuple[str | float, ...]]) -> str:
    lines = [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]
    lines += [
        "| " + " | ".join(each if isinstance(each, str) else _digits(each) for each in row) + " |"
        for row in rows
    ]
    return "\n".join(lines)


def _counters() -> str:
    fast, slow = _seen()
    return _table("counter | fast | slow", [(f"`{name}`", fast[name], slow[name]) for name in fast])


def _gains() -> str:
    """The answer to question 8."""
    _, slow = _seen()
    changes = [(name, _left(name)) for name in PLAN] + [("all", [])]
    return _table(
        "mended | predicted gain | simulated gain",
        [(f"`{name}`", predicted(left) / slow["orders_per_s"], gain(left)) for name, left in changes],
    )


def _steps() -> str:
    rows: list[tuple[str | float, ...]] = []
    for n in range(len(PLAN) + 1):
        left = PLAN[n:]
        found = bounds(left)
        rows.append(
            (
                ", ".join(PLAN[:n]) or "nothing",
                min(found, key=lambda name: found[name]),
                min(found.values()),
                capstone.orders_per_s({name: capstone.causes(SEED)[name] for name in left}),
                gain(left),
            )
        )
    return _table("mended | least bound | orders per second, predicted | simulated | gain so far", rows)


def _orders() -> str:
    return _table(
        "order | after the first | after the second | after all",
        [
            (", ".join(order), gain(_left(order[0])), gain(_left(*order[:2])), gain([]))
            for order in itertools.permutations(PLAN)
        ],
    )


def written() -> str:
    """The part of the guide."""
    planted = capstone.causes(SEED)
    fast, slow = ({name: _digits(value) for name, value in seen.items()} for seen in _seen())
    spread = capstone.counters({name: planted[name] for name in _left("counter")})
    crowd = capstone.counters({name: planted[name] for name in _left("pool")})
    away = _away_ms()
    return f"""```{{admonition}} A server of the capstone, solved
:class: dropdown

The server is that of seed {SEED}. A class has other ones, since its seeds follow from its secret. A student sees this, counted by the simulated engine:

{_counters()}

**The diagnosis: `disk`, `counter` and `pool`.**

- *The disk.* An fsync takes {slow["ms_per_fsync"]} ms, and it took {fast["ms_per_fsync"]} ms. It looks like too many commits. But an order still has {slow["commits_per_order"]} commit, and there are {slow["fsyncs_per_s"]} fsyncs per second,
  where there were {fast["fsyncs_per_s"]}. *Proved wrong* if a test of fsyncs alone is as fast on this device as it was.
- *The counter.* Of {slow["ms_per_order"]} ms per order {slow["row_lock_ms_per_order"]} are waits for rows, with only {slow["connections"]} connections. It looks like a part of the slow disk, since an order keeps its rows until its commit is durable. But two orders
  that add to one of a thousand rows hardly ever meet, however long they keep them: with the same disk and the counter spread, {_digits(spread["row_lock_ms_per_order"])} ms of waits are left. *Proved wrong* if `data_lock_waits` shows different rows.
  *Hidden by the pool:* at most one order waits. With {fast["connections"]} connections it would be {_digits(crowd["row_lock_ms_per_order"])} of {_digits(crowd["ms_per_order"])} ms.
- *The pool.* There are {slow["connections"]} connections, where there were {fast["connections"]}, and {slow["processors_busy"]} of {slow["processors"]} processors are busy. It looks like an application with little to do, since only {slow["connections_busy"]} connections are busy.
  But the others are on the way: between two statements a connection is away for {_digits(away / ROUND_TRIPS)} ms. *Proved wrong* if nobody in the application waits for a connection; the server has no counter of that. *Hidden by the row,* for which further connections would wait, too.
- *Nothing else.* Rows examined, commits per order and processors are what they were.

**The bounds,** from the counters alone. On the fast server {_digits(away)} ms per order are spent away: connections that are not busy, over orders per second. That is {_digits(away / ROUND_TRIPS)} ms for each of {ROUND_TRIPS} round trips. A commit waits about
{FSYNCS_WAITED} fsyncs: half of the one that runs, and its own. So the connections do at most their number over response and time away. The one row is held from the last statement to the end of the commit: a round trip and {FSYNCS_WAITED} fsyncs.
The least bound decides.

{_gains()}

The autograder takes these predictions: each is within a factor of 1.5, and `"all"` within a quarter. That of the pool is the farthest off, since the slow server does less than the bound of its row: {_digits(capstone.orders_per_s(planted))} orders per second instead of {_digits(predicted(PLAN))}.

**The plan: {", then ".join(PLAN)}.**

{_steps()}

The disk alone gives most, so it looks like the one to begin with. But it costs most, too. The pool alone gives nothing, and whoever tries it first puts it back. Spread the counter first: then no wait for rows is left, and the connections are the least bound.
Enlarge the pool next. These two give {_digits(gain(_left("counter", "pool")))} times as many orders, for a statement and a setting. The disk is left with a gain of {_digits(gain([]) / gain(_left("counter", "pool")))}. Look at the counters after each step: whether waits for rows are gone after the first,
and whether commits share their fsyncs after the second, {_digits(_fsyncs_per_order("disk"))} per order instead of {_digits(_fsyncs_per_order(*PLAN))}.

{_orders()}

*What it costs.* Whoever reads the counter adds up {capstone.CAUSES["counter"][0]:,} rows. Each connection takes memory, and more of them can queue elsewhere. A faster device costs money. With `innodb_flush_log_at_trx_commit = 2` no order waits for the device, but a crash of the machine can lose the orders of the last second.

**The points.** Three from the autograder for each question, and three by each column of the rubric:

| what stands in the answer | diagnosis | plan |
|---|---|---|
| the counter of each cause; an order of mending | 1 | 1 |
| its look-alike, what would prove it wrong, what hides it; the bound that each step leaves | 2 | 2 |
| whoever mends the pool last gives it the credit for what the counter did, as [the comparison of CATS with FIFO](cats.md) gave the schedule what printing had taken; what each step costs | 3 | 3 |

"Disk, counter, pool: the largest gain first" has one point for the plan. It has an order, but the gains by which it is chosen are those of a first step; behind another change they are others.
```
"""


def _fsyncs_per_order(*left: str) -> float:
    planted = capstone.causes(SEED)
    seen = capstone.counters({name: planted[name] for name in left})
    return seen["fsyncs_per_s"] / seen["orders_per_s"]
