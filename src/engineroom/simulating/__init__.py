"""Simulated experiments: what every chapter shares that runs a kernel on the simulated machine.

A chapter says its loads, its designs and what it reads off a run (`experiments/<word>`), as an `Experiment` for each figure. Here is
the rest: it makes a `Run` of points and seeds, on any executor; `settled` finds a window that is long enough; `time_by` tells what threads did; `varied` repeats
a run on machines with one estimate changed.
"""

from __future__ import annotations
