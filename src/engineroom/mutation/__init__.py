"""Mutation of the native code: do the tests see a mistake in every line? `python -m engineroom.mutation`, or `make mutants`."""
