"""Studies with people: a site on which participants talk to an agent, and the blind check.

Only the command line imports this package; its server needs the extra ``usi[study]``.
"""
