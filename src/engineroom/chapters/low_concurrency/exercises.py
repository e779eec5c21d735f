"""What the exercises on low concurrency are made of and checked against: statements by seed, and the memory of their lists."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from engineroom._native import low_concurrency as kernel

__all__ = ["CONTAINERS", "inserts", "list_bytes", "mixed", "smaller"]

# By the name in the kernel: 5.7's lists, and 8.0's deques.
CONTAINERS = {"5.7": "list_5_7", "8.0": "deque_8_0"}


def inserts(seed: int = 0) -> dict[str, tuple[int, int]]:
    """Four statements A to D: rows and columns. Narrow rows and wide ones, and two near the width from which a deque is smaller."""
    dice = random.Random(f"inserts-{seed}")
    widths = [dice.randint(2, 20), dice.randint(150, 192), dice.randint(40, 64), dice.randint(600, 900)]
    dice.shuffle(widths)
    return {name: (dice.randint(10, 900), columns) for name, columns in zip("ABCD", widths, strict=True)}


def list_bytes(version: str, rows: int, columns: int) -> int:
    """Bytes of all lists of a statement, without the items."""
    return kernel.container_bytes(CONTAINERS[version], rows=rows, columns=columns)


def smaller(rows: int, columns: int) -> tuple[str, int]:
    """The version whose lists take less, and how many bytes less."""
    old, new = (list_bytes(version, rows, columns) for version in CONTAINERS)
    return ("5.7", new - old) if old < new else ("8.0", old - new)


def mixed(
    mix: Callable[..., Mapping[str, float]], old: Mapping[str, float], new: Mapping[str, float], times: float
) -> str:
    """What an answer's mix does: whether its transaction takes `times` as long in the new version, to within 1 %, or what it takes."""
    found = dict(mix(dict(old), dict(new), times))
    unknown = sorted(set(found) - set(old))
    if unknown or any(count < 0 for count in found.values()) or not any(found.values()):
        return f"no mix: {unknown or found}"
    before, after = (sum(float(count) * cpu[name] for name, count in found.items()) for cpu in (old, new))
    return (
        "as asked for" if abs(after / before / times - 1) <= 0.01 else f"{after / before:.4f} times as long"
    )
