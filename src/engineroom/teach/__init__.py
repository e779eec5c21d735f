"""Exercises for a class: student notebooks and autograders from the text masters in notebooks/exercises.

`make class` calls `python -m engineroom.teach`. The functions here need otter-grader; the exercises themselves import
`engineroom.chapters.<word>.exercises`, which does not.
"""
