"""Run a candidate simulator over the tasks of a domain: users, agents, episodes, surveys.

Only the user varies: the agent, its rule book, the tools and the tasks are fixed and named in what
is stored.
"""
