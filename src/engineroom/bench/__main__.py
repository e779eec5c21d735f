"""`python -m engineroom.bench [word ...]`."""

from __future__ import annotations

import sys

from engineroom.bench import main

# Benches start processes that import this module again under another name.
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
