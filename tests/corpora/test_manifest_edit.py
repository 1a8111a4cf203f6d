"""New counts and hashes in a manifest that people have written in."""

from __future__ import annotations

import tomllib

from usi.corpora.manifest import Counts, parse_manifest, with_values

BEFORE = """\
# ours
name = "people"      # short

[counts] # made by usi
sessions = 1
tasks = 1  # one

[sha256]
'b.jsonl' = "old"

[load]
# as it is
domain = "desk"
"""


def test_values_change_and_the_rest_stays_byte_for_byte() -> None:
    manifest = parse_manifest(tomllib.loads(BEFORE), file="m")
    counts = Counts(sessions=12, ok=12, tasks=3)
    new = manifest.model_copy(
        update={"counts": counts, "sha256": {"b.jsonl": "ab", "c d.jsonl": "cd"}}
    )
    assert (
        with_values(BEFORE, new)
        == """\
# ours
name = "people"      # short

[counts] # made by usi
sessions = 12
tasks = 3  # one
ok = 12
user_turns = 0
batches = 0
participants = 0
surveys = 0
rewards = 0

[sha256]
'b.jsonl' = "ab"
"c d.jsonl" = "cd"

[load]
# as it is
domain = "desk"
"""
    )


def test_tables_that_are_not_there_come_at_the_end() -> None:
    text = '# mine\nname = "p"\n'
    manifest = parse_manifest(tomllib.loads(text), file="m")
    edited = with_values(text, manifest.model_copy(update={"sha256": {"s": "00"}}))
    assert edited == '# mine\nname = "p"\n\n[sha256]\ns = "00"\n'


def test_what_no_line_can_hold_is_written_anew() -> None:
    text = 'name = "p"  # kept nowhere\ncounts = {sessions = 1}\n'
    manifest = parse_manifest(tomllib.loads(text), file="m")
    edited = with_values(text, manifest.model_copy(update={"counts": Counts(sessions=2)}))
    assert tomllib.loads(edited)["counts"]["sessions"] == 2
    assert parse_manifest(tomllib.loads(edited), file="m").name == "p"
