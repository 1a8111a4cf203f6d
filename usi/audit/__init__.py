"""The gauntlet: what the gate admits on a corpus of real people.

Read `draws.py` first (studies from a corpus), then `attacks.py` (known-bad simulators) and
`gauntlet.py` (score, gate, tabulate).
"""
