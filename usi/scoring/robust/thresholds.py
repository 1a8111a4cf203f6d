"""Fixed thresholds of the profile `robust`: no option changes them."""

from __future__ import annotations

MIN_COVERAGE = 0.95
"""Share of the reference's tasks that a paired score must cover."""
MIN_GROUP_OVERLAP = 0.80
"""Share of task groups on both sides from which on the design is paired on the group."""
MIN_HUMAN_HITS = 30
"""Human sessions that must show a feature before it is scored by itself."""
RARE_HITS = 10
"""Human sessions below which a mark that models make is a tripwire."""
MIN_SIMULATOR_SESSIONS = 50
"""Simulator sessions below which there is no index."""
MIN_CLUSTERS = 30
"""Clusters of a side below which every verdict is INCONCLUSIVE."""
MIN_BIN_TASKS = 10
"""Tasks below which a difficulty bin is merged into its neighbour."""
MIN_ANSWERED = 0.90
"""Share of answered survey items below which the survey key is INCONCLUSIVE."""
Z = 1.6448536269514722
"""One-sided 5 % quantile of the normal distribution."""
