"""Our own figure: a flame graph of our planner while it plans."""

from __future__ import annotations

from engineroom.figures.flame import Flame, sampled
from engineroom.figures.parts import Rows, Run, Words, each
from engineroom.figures.style import BLUE, ORANGE, VERMILION

# What the enumerator asks of the planner, and what that calls, is pricing; all else below its entry is growing sets.
PRICING = ("node", "first", "grown", "subgraph", "pair", "price", "has_seen")
ENTRY = "run"
# Growing sets is hatched.
ROLES = {"pricing pairs": (VERMILION, ""), "growing sets": (BLUE, "//"), "setting up": (ORANGE, "")}
picture = Flame(of="the samples of planning", by="role", style=ROLES.__getitem__)


def role(path: tuple[str, ...]) -> str:
    """What a call path does."""
    if ENTRY not in path:
        return "setting up"
    return "pricing pairs" if set(PRICING) & set(path[path.index(ENTRY) :]) else "growing sets"


def _roles(path: tuple[str, ...]) -> dict[str, object]:
    return {"role": role(path), "begins_role": len(path) == 1 or role(path) != role(path[:-1])}


def rows(run: Run) -> Rows:
    """A row per frame that is wide enough to see; `begins_role` when what calls it does something else."""
    return sampled(run, deepest=10, more=_roles)


def shares(table: Rows) -> dict[str, float]:
    """Percent of the samples in each role, which is what its outermost frames have without those of other roles in them."""
    whole = table[table["begins_role"]].groupby("role")["share_percent"].sum()
    within = {"setting up": "growing sets", "growing sets": "pricing pairs"}
    return {name: float(whole[name] - whole.get(within.get(name, ""), 0.0)) for name in ROLES}


def words(table: Rows) -> Words:
    """The three roles, and the widest frames by name."""
    share = shares(table)
    widest = table.groupby("frame")["share_percent"].max().sort_values(ascending=False).head(7)
    named = ", ".join(f"{name} {percent:.0f} percent" for name, percent in widest.items())
    return Words(
        alt=f"Flame graph of our planner by source function. {each(share, '{:.0f} percent')}. With what they call: {named}.",
        caption=f"A flame graph of our planner, callers below what they call: of the samples, {share['pricing pairs']:.0f} percent are in "
        f"pricing pairs and {share['growing sets']:.0f} in growing sets (hatched).",
    )
