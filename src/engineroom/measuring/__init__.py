"""Measuring a process from outside: a statement's cost, calls and samples of functions, and whether to measure at all."""

from __future__ import annotations
