"""The validation study: what the profile robust and its gate do where the truth is known.

Read `cells.py` first (what is studied), then `truth.py` (what is true), `paired.py`,
`unpaired.py`, `versions.py` and `classifier.py` (one study each), `summary.py` (many studies to
rates with Monte-Carlo errors), `page.py` and `figures.py` (docs/validation.md).
"""
