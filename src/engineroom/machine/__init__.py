"""The simulated machine from Python: its presets, its validation, traces for a viewer, sweeps.

The machine itself is compiled: `engineroom._native.machine`. Importing this package imports nothing compiled.
"""

from __future__ import annotations

__all__: list[str] = []
