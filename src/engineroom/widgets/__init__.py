"""Widgets for notebooks, made from the same modules as the explorables of the web pages.

`engineroom.widgets.explorable.Explorable("hash_join")`; importing this package loads no widget library.
"""
