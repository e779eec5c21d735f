"""The chapter's figures: one quantity each, under FIFO and under CATS, or under all policies."""

from __future__ import annotations

from collections.abc import Sequence

from engineroom.listing import listed

__all__ = ["LABELS", "LOADS", "POLICIES", "named"]

LABELS = {"fifo": "FIFO", "cats": "CATS"}
POLICIES = {
    "fifo": "FIFO",
    "fcfs_5_7": "FIFO of 5.7",
    "cats_8_0_3": "CATS of 8.0.3",
    "cats": "CATS",
    "vats": "VATS",
    "ldsf": "LDSF",
    "bldsf": "bLDSF",
    "random": "chance",
}
LOADS = {
    "pareto": "SysBench, Pareto",
    "special": "SysBench, special",
    "uniform": "SysBench, uniform",
    "tpcc_1": "TPC-C, 1 warehouse",
    "tpcc_32": "TPC-C, 32 warehouses",
}


def named(policies: Sequence[str]) -> str:
    """The policies in words; where most are meant, by those that are not: "all but FIFO of 5.7"."""
    others = [label for key, label in POLICIES.items() if key not in policies]
    if not others:
        return f"all {len(POLICIES)}"
    if len(others) < len(POLICIES) / 2:
        return f"all but {listed(others)}"
    return listed([label for key, label in POLICIES.items() if key in policies])
