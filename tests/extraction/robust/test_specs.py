"""What the profile declares: names, dimensions, scope, poles, tripwires."""

from __future__ import annotations

from usi.extraction.profile import get_feature_profile

PROFILE = get_feature_profile("robust")
BY_NAME = {spec.name: spec for spec in PROFILE.specs}


def test_dimensions_hold_the_mended_features() -> None:
    members = {
        dimension: [s.name for s in PROFILE.specs if s.dimension == dimension and s.scored]
        for dimension in ("conversation", "information", "clarification", "reaction")
    }
    assert members == {
        "conversation": [
            "politeness", "short_turn", "dash", "ack_only", "verbosity_cv", "repeated_turn",
            "role_confusion", "turns_per_session",
        ],
        "information": ["info_frontload", "identifiers", "words_per_turn", "opening_words"],
        "clarification": ["uncertainty", "certainty", "pushback", "clarify", "info_question"],
        "reaction": ["emotion", "accusation", "pivot"],
    }  # fmt: skip


def test_what_follows_the_task_is_paired_only() -> None:
    paired = {spec.name for spec in PROFILE.specs if spec.scope == "paired"}
    assert paired == {
        "turns_per_session",
        "info_frontload",
        "lack_of_information",
        "identifiers",
        "trigram_share",
    }


def test_style_and_diagnostics_are_reported_not_scored() -> None:
    unscored = {spec.name for spec in PROFILE.specs if not spec.scored}
    style = {spec.name for spec in PROFILE.specs if spec.dimension == "style"}
    assert style == {
        "casual", "echo", "several_sentences", "comma", "shortest_turn", "user_latency",
    }  # fmt: skip
    assert unscored == style | {"lack_of_information", "request", "trigram_share"}
    assert all("channel" in BY_NAME[name].description for name in style)


def test_latency_is_the_only_property_of_the_harness() -> None:
    assert {spec.name for spec in PROFILE.specs if spec.harness} == {"user_latency"}
    latency = BY_NAME["user_latency"]
    assert (latency.unit, latency.scale, latency.kind) == ("seconds", "ratio", "geometric")
    assert "a property of the harness, never scored" in latency.description
    assert (latency.scored, latency.tripwire, latency.lexical) == (False, False, False)


def test_tripwires_and_poles() -> None:
    assert {s.name for s in PROFILE.specs if s.tripwire} == {"dash", "role_confusion"}
    assert {s.name for s in PROFILE.specs if s.pole == "complement"} == {"casual"}


def test_tag_names_profile_and_lists() -> None:
    assert PROFILE.tag == "robust@2"
    assert PROFILE.lexicon == "robust@1+style@1+context@1"
