"""Small loads, and engines of 5.7 with new parts, as the lab and the exercises compare them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from engineroom._native import engine as kernel
from engineroom.machine.presets import parameters

__all__ = ["CLIENTS", "LOADS", "PARTS", "simulated", "throughput"]

CLIENTS = 50
# What can be new in an engine of 5.7, and how `simulate_mix` is told.
PARTS: Mapping[str, Mapping[str, Any]] = {
    "redo": {"engine": {"redo": "8.0"}},
    "latches": {"trx_sys": {"latches": "8.0, sharded"}},
    "locks": {"lock_design": "9.7"},
}
_OLD: Mapping[str, Any] = {"engine": {"redo": "5.7"}, "trx_sys": {"latches": "5.7"}, "lock_design": "5.7"}
_MS = 1_000_000


def _statement(access: str, *, mtrs: int = 0, **options: int) -> dict[str, Any]:
    return {"access": access, "mtrs_permille": 1000 * mtrs, "mtr_bytes": 150, **options}


def _alone(statement: Mapping[str, Any], *, rows: int = 1_000_000) -> list[dict[str, Any]]:
    """Transactions of one statement that commits by itself."""
    return [
        {
            "draws": [{"rows": rows}],
            "statements": [dict(statement)],
            "commit": {"computing_ns": 0},
            "sends_commit": False,
        }
    ]


_CHANGE = _statement("changes", mtrs=2, computing_ns=10_000)
LOADS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "small": _alone(_CHANGE),
    "hot": _alone(_CHANGE, rows=1),
    "reads": _alone(_statement("reads", computing_ns=20_000)),
    "bulk": [
        {
            "draws": [{"rows": 1_000_000}],
            "statements": [_statement("changes", mtrs=20, computing_ns=40_000, rows=20)],
            "commit": {"computing_ns": 5_000, "mtrs_permille": 1_000, "mtr_bytes": 100},
        }
    ],
}


def simulated(
    mix: Sequence[Mapping[str, Any]],
    new: Collection[str] = (),
    *,
    clients: int = CLIENTS,
    fsync_us: int = 10,
    seed: int = 1,
) -> dict[str, Any]:
    """Transactions of an engine of 5.7 of which some parts are new, for 10 ms of virtual time behind 5 ms of warm-up.

    An fsync takes 10 us, as where the device answers from a cache that survives a power cut: else it hides the latches.
    """
    design = dict(_OLD)
    for part in new:
        design |= PARTS[part]
    return kernel.simulate_mix(
        parameters={**parameters("four_sockets_176"), "disk_fsync_quantiles_ps": [1_000_000 * fsync_us]},
        mix=mix,
        load={"clients": clients, "away_ns": 33_000},
        run_ns=10 * _MS,
        warmup_ns=5 * _MS,
        seed=seed,
        **design,
    )


def throughput(
    mix: Sequence[Mapping[str, Any]], new: Collection[str] = (), *, clients: int = CLIENTS, seed: int = 1
) -> float:
    """Transactions per second of virtual time."""
    seen = simulated(mix, new, clients=clients, seed=seed)
    return float(seen["transactions"] / seen["window_ns"] * 1e9)
