"""The experiments of the chapter: parameters in, a `Run` out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.chapters.cats.experiments import policies, print_cost, simulated, weights
from engineroom.runs import Run

# What `engineroom record` can measure: figure and method -> a function without arguments.
RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("fig-7-10", "sim"): simulated.pareto_sim,
    ("fig-7-13", "sim"): simulated.vendor_sim,
    ("fig-7-19", "sim"): simulated.contended_sim,
    ("fig-7-20", "sim"): simulated.one_socket_sim,
    ("fig-7-21", "sim"): simulated.standard_sim,
    ("own-cats-policies", "sim"): policies.policies_sim,
    ("own-cats-print-cost", "sim"): print_cost.print_cost_sim,
    ("own-cats-weights", "sim"): weights.weights_sim,
}
# One simulation is behind all of SysBench's figures.
MADE_TOGETHER: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("fig-7-10", "sim"): ("fig-7-11", "fig-7-12", "fig-7-17", "fig-7-18")
}
