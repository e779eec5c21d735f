"""Query graphs of the join order chapter: their files, the server's trace, and the graph of a query."""

from __future__ import annotations
