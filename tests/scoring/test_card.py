"""What the scorecard says beside the numbers: schema, terms, sources, hashes, no clock."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from scoring.small import answered, entry, people, put, reasons, scored, words

import usi
from usi.provenance import explain, parse
from usi.scoring.parts import to_parquet
from usi.scoring.published.export import published_rows
from usi.scoring.published.task_sums import task_sums
from usi.scoring.scorecard import COMPONENTS, Scorecard, schema_text


def both(folder: Path, **choices: Any) -> Scorecard:
    human = people("retail_0", "retail_1")
    for name, made in human.items():
        made["survey"] = answered(human_like="Yes")
        made["keep"] = name != "retail_1_ann2"
    simulators = {
        "good": {"retail_0": entry(words(4)), "retail_1": entry(words(4), reward=None)},
        "bad": {"retail_0": entry(words(40)), "retail_1": entry("please")},
    }
    surveys = {"good": {"retail_0": {"survey": answered(human_like="Yes")}}}
    return scored(folder, human, simulators, surveys, **choices)


SCHEMA = Path(usi.__file__).parent / "scoring" / "schemas" / "scorecard.schema.json"


def test_the_published_schema_is_current() -> None:
    assert SCHEMA.read_text("utf-8") == schema_text(), "run: python -m usi.scoring.scorecard"


def test_cards_keep_to_the_schema(tmp_path: Path) -> None:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    data = json.loads(both(tmp_path).to_json())
    validator.validate(data)
    for broken in ("human", "simulators", "signature"):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({key: value for key, value in data.items() if key != broken})
    data["simulators"][0]["index"]["value"] = "high"
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(data)


def test_a_card_reads_back(tmp_path: Path) -> None:
    card = both(tmp_path)
    path = tmp_path / "card.json"
    path.write_text(card.to_json(), encoding="utf-8")
    assert Scorecard.read(path) == card


def test_all_components_stand_on_every_side(tmp_path: Path) -> None:
    card = both(tmp_path)
    for side in (card.human, *card.simulators):
        assert tuple(side.components) == COMPONENTS
        for part in side.components.values():
            assert (part.value is None) == (part.status != "ok")
            assert (part.status == "ok") or part.reason


def test_five_and_six_terms_are_told_apart(tmp_path: Path) -> None:
    card = both(tmp_path)
    assert {side.name: side.index.terms for side in card.simulators} == {"good": 6, "bad": 5}
    assert [warning.code for warning in card.warnings] == ["mixed_terms"]
    assert parse(card.signature).fields["terms"] == "5+6"
    own = {side.name: parse(side.signature).fields for side in card.simulators}
    assert own["good"]["terms"] == "6"
    assert own["good"]["seed"] == "42"
    assert own["bad"]["terms"] == "5"
    assert "seed" not in own["bad"]
    rows = {row["name"]: row for row in published_rows(card)["rows"]}
    assert rows["bad"]["eval_agree"] is None
    assert rows["good"]["eval_agree"] == [100.0, 0.0]


def test_simulators_stand_by_falling_index_then_name(tmp_path: Path) -> None:
    human = people("retail_0")
    same = {"retail_0": entry(words(4))}
    simulators = {"b": same, "a": same, "c": {"retail_0": entry(words(50))}}
    card = scored(tmp_path, human, simulators)
    assert [side.name for side in card.simulators] == ["a", "b", "c"]


def test_the_signature_names_what_was_used(tmp_path: Path) -> None:
    card = both(tmp_path)
    fields = parse(card.signature).fields
    (digest,) = {file.content_digest for file in card.inputs if file.role == "human"}
    assert fields["corpus"] == f"people@{digest[:4]}"
    assert fields["bins"] == "frozen31"
    assert fields["batches"] == "3"
    assert fields["v"] == usi.__version__
    assert len(explain(card.signature)) == len(fields) + 1
    rates = put(tmp_path / "rates.json", {"retail_0": 0.5})
    other = both(tmp_path, difficulty=str(rates))
    digest = hashlib.sha256(b'{"retail_0":0.5}').hexdigest()
    assert parse(other.signature).fields["bins"] == f"file@{digest[:8]}"
    assert {file.role for file in other.inputs} == {"human", "simulator", "survey", "difficulty"}


def test_inputs_are_base_names_with_digests_of_their_content(tmp_path: Path) -> None:
    card = both(tmp_path)
    for file in card.inputs:
        assert "/" not in file.name
        where = tmp_path / ("survey_data" if file.role == "survey" else "") / file.name
        assert re.fullmatch("[0-9a-f]{64}", file.content_digest)
        assert file.content_digest != hashlib.sha256(where.read_bytes()).hexdigest()
    assert len({file.content_digest for file in card.inputs}) == len(card.inputs)
    text = card.to_json()
    assert str(tmp_path) not in text
    assert not re.search(r"\d\d:\d\d", text)


def test_identical_inputs_elsewhere_give_identical_bytes(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "two" / "deeper"
    assert both(one).to_json() == both(other).to_json()


def test_nothing_that_was_left_out_is_silent(tmp_path: Path) -> None:
    card = both(tmp_path)
    good = next(side for side in card.simulators if side.name == "good")
    assert reasons(good) == {"outcome: null reward, counted as 0": 1}
    assert reasons(card.human) == {"session: keep mark is not true": 1}


def test_a_phantom_is_called_synthetic(tmp_path: Path) -> None:
    def line(batch: int | None, text: str, **meta: Any) -> str:
        row: dict[str, Any] = {
            "task_id": "retail_0",
            "messages": [{"role": "user", "content": text}],
            "reward": 1,
            "metadata": meta,
        }
        if batch:
            row |= {"batch": batch, "id": f"retail_0_ann{batch}"}
        return json.dumps(row) + "\n"

    plain = tmp_path / "plain.jsonl"
    plain.write_text(line(1, "a b") + line(2, "a b c"), encoding="utf-8")
    marked = tmp_path / "marked.jsonl"
    marked.write_text(line(1, "a b", synthetic=True) + line(2, "a b c"), encoding="utf-8")
    sim = tmp_path / "sim.jsonl"
    sim.write_text(line(None, "a b"), encoding="utf-8")
    card = usi.score(sim, plain, profile="tau-usi")
    assert (card.synthetic, card.human.synthetic) == (False, False)
    card = usi.score(sim, marked, profile="tau-usi")
    assert (card.synthetic, card.human.synthetic) == (True, True)
    assert [warning.code for warning in card.warnings] == ["synthetic"]
    table = usi.features(marked, side="human", profile="tau-usi")
    assert table.synthetic
    table.write(tmp_path / "marked.sessions.parquet")
    card = usi.score(sim, tmp_path / "marked.sessions.parquet", profile="tau-usi")
    assert card.synthetic


def test_sums_by_task_hold_counts_and_no_text(tmp_path: Path) -> None:
    table = usi.features(
        put(tmp_path / "p.json", people("retail_0", "retail_1", turn="please w w w")),
        side="human",
        profile="tau-usi",
    )
    sums = task_sums([table], {"retail_0": 0.85})
    assert sums.height == 6
    row = sums.row(0, named=True)
    assert (row["side"], row["task"], row["batch"], row["bin"]) == ("human", "retail_0", 1, "0.8-1")
    assert (row["sessions"], row["spoken"], row["rewarded"], row["success"]) == (1, 1, 1, 1)
    assert (row["politeness"], row["words"], row["value:politeness_rate"]) == (1, 4, 1.0)
    assert sums.row(5, named=True)["bin"] is None
    assert not {"session_id", "survey", "participant", "status_reason"} & set(sums.columns)
    assert to_parquet(sums) == to_parquet(task_sums([table], {"retail_0": 0.85}))
