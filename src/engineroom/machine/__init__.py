"""The simulated machine from Python: its presets, its calibration, its validation, traces for a viewer.

The machine itself is compiled: `engineroom._native.machine`. Importing this package imports nothing compiled. Experiments on the
machine are in `engineroom.simulating`.
"""

from __future__ import annotations

__all__: list[str] = []
