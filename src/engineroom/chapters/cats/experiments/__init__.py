"""The experiments of the chapter: parameters in, a `Run` out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.cats.experiments.policies import policies_sim
from engineroom.chapters.cats.experiments.print_cost import print_cost_sim
from engineroom.chapters.cats.experiments.simulated import (
    SCHEDULERS,
    contended_sim,
    one_socket_sim,
    pareto_sim,
    print_ns,
    standard_sim,
    vendor_sim,
)
from engineroom.chapters.cats.experiments.weights import weights_sim
from engineroom.runs import Run

__all__ = [
    "MADE_TOGETHER",
    "RECORD",
    "SCHEDULERS",
    "contended_sim",
    "one_socket_sim",
    "pareto_sim",
    "policies_sim",
    "print_cost_sim",
    "print_ns",
    "standard_sim",
    "vendor_sim",
    "weights_sim",
]

# What `engineroom record` can measure: figure and method -> a function without arguments.
RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("fig-7-10", "sim"): pareto_sim,
    ("fig-7-13", "sim"): vendor_sim,
    ("fig-7-19", "sim"): contended_sim,
    ("fig-7-20", "sim"): one_socket_sim,
    ("fig-7-21", "sim"): standard_sim,
    ("own-cats-policies", "sim"): policies_sim,
    ("own-cats-print-cost", "sim"): print_cost_sim,
    ("own-cats-weights", "sim"): weights_sim,
}
# One simulation is behind all of SysBench's figures.
MADE_TOGETHER: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("fig-7-10", "sim"): ("fig-7-11", "fig-7-12", "fig-7-17", "fig-7-18")
}
