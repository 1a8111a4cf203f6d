"""Signatures read back exactly, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from usi.errors import UsageError
from usi.provenance import build, differences, explain, parse
from usi.provenance.signature import FIELDS, HEADS

LONG = (
    "USI|profile:tau-usi|corpus:people@ab12|source:human|terms:6|batches:3|runs:3|tasks:165"
    "|lex:tau19@1|bins:frozen31|seed:42|v:0.1.0"
)
SHORT = "USI|p:tau-usi|c:people@ab12|s:human|t:6|b:3|r:3|n:165|l:tau19@1|d:frozen31|z:42|v:0.1.0"

values = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


def test_long_and_short_form_of_a_known_signature() -> None:
    signature = parse(LONG)
    assert signature.index == "USI"
    assert signature.fields["corpus"] == "people@ab12"
    assert signature.long() == LONG
    assert signature.short() == SHORT
    assert parse(SHORT) == signature


@given(st.sampled_from(sorted(HEADS)), st.dictionaries(st.sampled_from(sorted(FIELDS)), values))
@example("USI", {"corpus": "a|b:c@d%~\n\x00"})
def test_whatever_is_built_reads_back(head: str, fields: dict[str, str]) -> None:
    signature = build(head, fields)
    assert dict(signature.fields) == fields
    assert list(signature.fields) == [name for name in FIELDS if name in fields]
    text = signature.long()
    assert text.isascii()
    assert text.isprintable()
    assert " " not in text
    if fields:
        assert parse(text) == signature
        assert parse(signature.short()) == signature
        assert len(explain(text)) == len(fields) + 1


@given(st.text(max_size=60))
def test_a_random_text_is_refused_or_reads_back(text: str) -> None:
    try:
        signature = parse(text)
    except UsageError:
        return
    assert parse(signature.long()) == signature


@pytest.mark.parametrize(
    "text",
    [
        "",
        "USI",
        "usi|terms:5",
        "BLEU|terms:5",
        "USI|",
        "USI|terms",
        "USI|terms:",
        "USI|terms:5|terms:5",
        "USI|terms:5|t:5",
        "USI|color:red",
        "USI|terms:5\n|v:1",
        "USI|terms:<b>5</b>",
        "USI|terms:[red]5",
        "USI|terms:%zz",
        "USI|terms:%ff",
        "USI|terms:%35",
        "USI|terms:5|" + "v:" + "9" * 5000,
        "USI|terms:\u0665",
        "../../etc/passwd",
    ],
)
def test_hostile_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


def test_an_unknown_field_or_index_names_near_matches() -> None:
    with pytest.raises(UsageError, match="profile"):
        build("USI", {"profil": "tau-usi"})
    with pytest.raises(UsageError, match="USI-R"):
        build("USI_R", {"profile": "robust@2"})
    with pytest.raises(UsageError, match="empty"):
        build("USI", {"profile": ""})


def test_explain_has_words_for_every_field() -> None:
    lines = explain(LONG)
    assert lines[0] == "USI: the published User-Sim Index (arXiv 2603.11245)"
    assert "terms: 6 (how many terms the index is the mean of: with the survey)" in lines
    assert any(line.startswith("bins: frozen31 (") and "31 baselines" in line for line in lines)
    assert len(lines) == LONG.count("|") + 1


def test_short_names_are_unique_and_collide_with_no_long_name() -> None:
    shorts = [field.short for field in FIELDS.values()]
    assert len(set(shorts)) == len(shorts)
    for field in FIELDS.values():
        assert FIELDS.get(field.short, field) is field


def test_differences_name_the_fields() -> None:
    assert differences(LONG, SHORT) == []
    other = LONG.replace("terms:6", "terms:5").replace("|seed:42", "")
    assert differences(LONG, other) == ["terms: 6 against 5", "seed: 42 against not given"]
