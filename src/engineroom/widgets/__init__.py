"""Widgets for notebooks, made from the same modules as the explorables of the web pages."""
