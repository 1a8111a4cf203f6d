"""What phantom populations truly are: expectations, true scores, and session tables without texts.

The validation study and the tests of the statistics rest on it. `counts` gives the session table
of drawn sessions at once; tests hold extraction from the same sessions' texts to the same counts.
"""
