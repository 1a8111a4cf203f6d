"""What commands and cards say of sessions in another language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from command import usi as run

import usi

GERMAN = (
    "Guten Tag, ich möchte gerne meinen Flug nach Hamburg umbuchen, weil ich leider krank "
    "geworden bin. Können Sie mir bitte dabei helfen?"
)


def talk(path: Path, **fields: Any) -> Path:
    turns = [{"role": "user", "content": GERMAN}, {"role": "assistant", "content": "Gerne."}]
    rows = [
        {"session_id": f"s{k}", "task_id": f"t{k}", "reward": k % 2, "messages": turns, **fields}
        for k in range(6)
    ]
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def test_the_published_profile_says_that_it_read_another_language(tmp_path: Path) -> None:
    people, bot = talk(tmp_path / "people.jsonl"), talk(tmp_path / "bot.jsonl", language="en")
    card = usi.score(bot, human=people, profile="tau-usi", difficulty="self")
    said = [w.text for w in card.warnings if "another language" in w.text]
    assert len(said) == 1
    assert said[0].startswith("people: 6 sessions are in another language than English (de 6)")


def test_features_take_the_language_of_sessions_that_declare_none(tmp_path: Path) -> None:
    short = talk(tmp_path / "bot.jsonl")
    short.write_text(short.read_text(encoding="utf-8").replace(GERMAN, "Ja bitte"), "utf-8")
    done = run("features", short, "--side", "simulated", "--language", "German", cwd=tmp_path)
    assert [json.loads(line)["politeness"] for line in done.out.splitlines()] == [1.0] * 6
    done = run("features", short, "--side", "simulated", cwd=tmp_path)
    assert [json.loads(line)["politeness"] for line in done.out.splitlines()] == [0.0] * 6
    refused = run("features", short, "--side", "simulated", "--language", "x y", cwd=tmp_path)
    assert refused.code == 2
    assert "no language that usi knows" in refused.err
