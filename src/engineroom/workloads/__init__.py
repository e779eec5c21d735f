"""Data and load for live servers."""
