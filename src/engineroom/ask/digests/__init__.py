"""Statements without their values, and slow logs counted by them."""
