"""Kinds of users: models, scripts, recorded turns, processes, endpoints and callables."""
