"""Comparisons beyond the scores: two-sample test, distances, copies, word use, examples."""
