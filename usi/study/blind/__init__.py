"""The blind check: practitioners read sessions and say whether the user was a person."""
