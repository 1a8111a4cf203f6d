"""Agents: a model with tools, a scripted oracle, an endpoint, a callable."""
