"""Deadlocks that a server reported: who waited for whom, who lost, and what order would avoid it."""
