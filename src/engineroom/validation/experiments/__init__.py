"""The simulated machine held against real ones: against threads of the computer at hand, and against what others measured on many cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engineroom.runs import Run
from engineroom.validation.experiments.configuration import configuration_sim
from engineroom.validation.experiments.crowds import crowds_sim
from engineroom.validation.experiments.real import real_against_simulated

__all__ = ["RECORD", "configuration_sim", "crowds_sim", "real_against_simulated"]

RECORD: Mapping[tuple[str, str], Callable[..., Run | list[Run]]] = {
    ("own-machine-real", "host"): real_against_simulated,
    ("own-machine-crowds", "sim"): crowds_sim,
    ("own-machine-configuration", "sim"): configuration_sim,
}
