"""Names that people read, for identifiers of features, checks and statistics: each once."""

from __future__ import annotations

from usi.report.text import printable

_NAMES = {
    "ack_only": "acknowledgement alone",
    "auc": "AUC",
    "c2st": "two-sample test",
    "collapsed": "same texts over and over",
    "constant_user": "user who always says the same",
    "content_tracking": "follows the content of the task",
    "copies": "copies of people",
    "correct_refusal_gap": "correct refusals",
    "coverage": "tasks covered",
    "echo_of_the_agent": "user who echoes the agent",
    "people_of_another_domain": "people of another domain",
    "id_confuse_rate": "confusion of roles",
    "id_density": "identifiers a word",
    "info_frontload": "words of the first two turns",
    "max_blind_auc": "blind check",
    "max_user_errors": "errors of the simulated user",
    "min_tasks": "number of tasks",
    "max_age_days": "age of the scorecard",
    "hist_gradient_boosting": "gradient boosting",
    "role_confusion": "speaking as the agent",
    "run_copies": "copies of its own runs",
    "self_copies": "copies of itself",
    "success_gap": "success gap",
    "survey_answered": "survey items answered",
    "survey_bias": "lean of survey answers",
    "survey_kappa": "survey agreement (kappa)",
    "task_tracking": "follows the task",
    "trigram_share": "repeated word triples",
    "turn_adjacency": "answers the agent",
    "verbosity_cv": "spread of turn lengths",
}
"""Identifier -> its name, where that is not the identifier with blanks for underscores."""


def name_of(identifier: str) -> str:
    """Name of a feature, check or statistic; of a compound such as ``tripwire.dash`` by parts.

    >>> name_of("role_confusion"), name_of("short_turn"), name_of("tripwire.dash")
    ('speaking as the agent', 'short turn', 'tripwire: dash')
    """
    kind, dot, rest = identifier.partition(".")
    if dot and kind.isidentifier() and rest:
        return f"{name_of(kind)}: {name_of(rest)}"
    return _NAMES.get(identifier) or printable(identifier.replace("_", " "))
