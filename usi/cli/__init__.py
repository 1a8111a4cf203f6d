"""The command line: one thin module a verb. Nothing heavy is imported before a verb runs."""
