"""The one threshold of quiet: above it, others' work on the machine is part of what was measured.

A run above it is kept as what it is, and decides no verdict. Others' work does nothing to a simulated run, which counts events in virtual
time, to one that counts instructions, and to one whose experiment says, before it runs, that its rows are counts and of what: `counts="bytes that one client's
transactions put into the log"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["LOAD", "LOAD_OF_OTHERS", "STEAL_PERCENT", "rule", "why_busy"]

# Runnable threads of others when a sitting begins.
LOAD_OF_OTHERS = 0.5
# Of the run itself: the average remembers what the same command measured just before, one thread at a time.
LOAD = LOAD_OF_OTHERS + 1.0
# The narrowest boundary of a claim is 3 % from 1. On two processors, 1 % of their time is at most 2 % of one thread's.
STEAL_PERCENT = 1.0


def rule(method: str, provenance: Mapping[str, Any] | None = None) -> dict[str, float] | None:
    """The threshold as a protocol states it; None for what others' work does nothing to."""
    if method in ("sim", "instructions") or (provenance or {}).get("counts"):
        return None
    return {"load_before": LOAD, "steal_percent": STEAL_PERCENT}


def why_busy(method: str, provenance: Mapping[str, Any]) -> str | None:
    """Why a run was not quiet enough to decide, or None. What nobody wrote down is held against no run."""
    if rule(method, provenance) is None:
        return None
    during = provenance.get("during") or {}
    load = during.get("load_before") or 0.0
    steal = during.get("steal_percent") or 0.0
    doubts = []
    if load > LOAD:
        doubts.append(f"load {load:g} before it, of at most {LOAD:g}")
    if steal > STEAL_PERCENT:
        doubts.append(f"{steal:g} % of the processors' time withheld, of at most {STEAL_PERCENT:g} %")
    return f"the machine was busy: {'; '.join(doubts)}" if doubts else None
