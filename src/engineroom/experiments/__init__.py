"""Experiments: parameters in, a `Run` out. They measure and never plot."""

from __future__ import annotations
