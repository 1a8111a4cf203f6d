"""Sessions in other languages: declared, told or unknown, and what the card says of them."""

from __future__ import annotations

from usi.extraction.extract import extract_table
from usi.extraction.language import detect, language_code, language_of
from usi.extraction.language_packs import languages_in, without_lists
from usi.records import Session, Turn

GERMAN = (
    "Guten Tag, ich möchte bitte meine Bestellung stornieren.",
    "Vielleicht morgen?",
    "Das habe ich Ihnen doch schon gesagt!",
    "Vielen Dank für Ihre Hilfe und einen schönen Tag",
)


def session(*texts: str, **meta: str) -> Session:
    return Session(session_id="s", turns=tuple(Turn("user", t) for t in texts), meta=dict(meta))


def values(one: Session, **options: str) -> dict[str, object]:
    table = extract_table([one], profile="robust", side="human", **options)  # type: ignore[arg-type]
    return {**table.frame.row(0, named=True), **table.values().row(0, named=True)}


def test_german_is_counted_with_german_lists() -> None:
    row = values(session(*GERMAN, language="de-AT"))
    assert row["politeness"] == 0.5
    assert row["pushback"] == row["uncertainty"] == 0.25
    assert str(row["status_reason"]).startswith("language: de (de-robust@1")


def test_a_language_without_lists_has_no_value_and_not_0() -> None:
    row = values(
        session("Merci, please annulez ma commande", "peut-être demain", language="French")
    )
    assert row["politeness"] is None
    assert row["uncertainty"] is None
    assert row["words_per_turn"] == 3.5
    assert row["status_reason"] == "language: fr (no word lists)"


def test_the_language_is_a_column_and_not_read_from_a_reason() -> None:
    spoken = (
        Session(session_id="a", turns=session(*GERMAN).turns, meta={"language": "de"},
                status_reason="a review of the harness"),
        Session(session_id="b", turns=session("please").turns,
                status_reason="language: xx (no word lists)"),
        session("Merci", language="fr"),
    )  # fmt: skip
    frame = extract_table(spoken, profile="robust", side="human").frame
    assert frame["language"].to_list() == ["de", "en", "fr"]
    assert frame["word_lists"].is_null().to_list() == [False, False, True]
    assert frame["status_reason"][0] == "a review of the harness"
    assert languages_in(frame) == {"de": 1, "fr": 1}
    assert without_lists(frame) == ("fr",)


def test_words_of_scripts_without_blanks_are_told_apart() -> None:
    row = values(session("我想取消我的订单，谢谢", language="zh"))
    assert row["words"] == 10  # characters, marks stay with the word before them
    assert row["politeness"] is None


def test_detection_leaves_english_and_short_texts_alone() -> None:
    assert detect(" ".join(GERMAN)) == "de"
    assert detect("Danke") is None
    assert detect("I want to return the blue one that is in my order, please, with JFK-BOS") is None
    assert language_of(session(*GERMAN, language="en")) == "en"
    assert language_of(session("hello"), "de") == "de"
    assert (language_code("zh-Hans"), language_code("a sentence")) == ("zh", None)


def test_the_published_profile_reads_everything_in_english() -> None:
    table = extract_table([session(*GERMAN)], profile="tau-usi", side="human")
    assert table.frame["politeness"][0] == 0
    assert table.frame["status_reason"][0] is None


def test_order_and_blocks_change_nothing() -> None:
    many = [session("please, thank you"), session(*GERMAN, language="de"), session("ok, maybe")]
    whole = extract_table(many, profile="robust", side="human").frame
    single = extract_table(many, profile="robust", side="human", block=1).frame
    assert whole.equals(single)
