"""The ledger: every published figure, the claims it makes, and the verdict of a fixed rule on our runs.

`rows` gives the verdicts as they were judged last, from `data/recorded/ledger.json` alone; `judging` judges them, `verdicts` has the rule.
The package reads runs and knows nothing that makes them.
"""
