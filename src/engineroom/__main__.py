"""`python -m engineroom`: the command where it is not installed yet."""

from __future__ import annotations

from engineroom.cli import main

main()
