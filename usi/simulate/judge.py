"""A judge model fills in the survey for talks that others had, of people too (paired design)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from usi.errors import UsageError, UsiError
from usi.loading import open_sessions
from usi.options import CallOptions, SimulateJudgeOptions
from usi.records import Session
from usi.simulate.calls import Calls, Runtime
from usi.simulate.candidates import USER_KINDS, Table, describe, label_of
from usi.simulate.client import ModelSettings, complete, prices
from usi.simulate.deadline import all_ended
from usi.simulate.faults import INFRASTRUCTURE, EpisodeFault, RunStopped
from usi.simulate.leave import require_leave
from usi.simulate.preparation import runtime_of
from usi.simulate.protocol import Message
from usi.simulate.questions import (
    Filled,
    Instrument,
    fill_in,
    first_object,
    read_instrument,
    survey_file,
)
from usi.simulate.sessions import SURVEYS, write_whole

ROLE = (
    "You read a conversation between a user and a support agent and answer a survey about it as "
    "this user would. Judge by what the user could see and by how the user reacts."
)
_NAMES = {"user": "User", "assistant": "Agent"}


@dataclass
class Judged:
    """Answers by key of a survey file, in the order of the talks, and what went wrong."""

    answers: dict[str, Mapping[str, str | None]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    unanswered: int = 0
    stopped: str | None = None

    @property
    def unusable(self) -> bool:
        """Whether infrastructure kept every talk from being judged."""
        return not self.answers and any(name in INFRASTRUCTURE for name in self.left_out)

    def lines(self, instrument: Instrument) -> Iterator[str]:
        """What is said of it to people."""
        items = len(self.answers) * len(instrument.questions)
        yield (
            f"{len(self.answers)} talks judged, {self.repaired} repaired, "
            f"{self.unanswered} of {items} answers unanswered"
        )
        for reason, n in sorted(self.left_out.items()):
            yield f"  left out: {reason} {n}"
        if self.stopped:
            yield f"stopped: {self.stopped}. The same command goes on from here."


@dataclass(frozen=True)
class JudgePlan:
    """A judge model, what it is asked, and the survey file that its answers go to."""

    settings: ModelSettings
    instrument: Instrument
    path: Path
    concurrency: int

    def run(self, transcripts: Sequence[str], calls: CallOptions, folder: Path) -> Judged:
        """Judge the talks of transcripts and write the survey file, where there are answers.

        Raises
        ------
        UsageError
            For talks of a human corpus that must not be sent to this model.
        """
        if not calls.replay:
            require_leave(transcripts, self.settings)
        runtime = runtime_of(calls, folder)
        try:
            found = judge_all(
                open_sessions(list(transcripts)),
                self.settings,
                self.instrument,
                runtime,
                concurrency=self.concurrency,
            )
        finally:
            runtime.cache.close()
        if found.answers:
            text = survey_file(list(found.answers.items()), self.instrument)
            write_whole(self.path, text.encode("utf-8"))
        return found


def judge_plan(own: SimulateJudgeOptions, calls: CallOptions, *, force: bool) -> JudgePlan:
    """The judge that options name.

    Raises
    ------
    UsageError
        For a judge that is not a model, a budget in money without a price, or a survey file that
        is there already.
    """
    named = describe(own.judge, USER_KINDS)
    table = Table(named, USER_KINDS, "judge")
    if table.kind != "model":
        raise UsageError(f'--judge {own.judge}: a judge is a model (kind = "model")')
    settings = table.settings()
    if calls.budget and not calls.replay and prices(settings) is None:
        raise UsageError(f"--budget can't be held: the price of {settings.model} is not known")
    instrument = read_instrument(own.instrument)
    path = own.output / SURVEYS / f"survey_comparable_{label_of(own.label or named.label)}.json"
    if path.exists() and not force:
        raise UsageError(f"{path} is there already: --force writes it again, or --label another")
    return JudgePlan(settings, instrument, path, own.concurrency)


def transcript(session: Session) -> str:
    """What the two said, without tools; cleaning of rewards and marks is the loaders' business."""
    lines = [
        f"{_NAMES[turn.role]}: {turn.content.strip()}"
        for turn in session.turns
        if turn.role in ("user", "assistant")
        and isinstance(turn.content, str)
        and turn.content.strip()
        and not turn.tool_calls
    ]
    return "\n".join(lines)


def keys_of(sessions: Iterable[Session]) -> Iterator[tuple[str, Session]]:
    """Sessions with the ids that a survey file names; an id of several rounds gets ``_ann2`` ..."""
    seen: set[str] = set()
    for session in sessions:
        key, number = session.session_id, 1
        if key in seen:
            key = f"{session.session_id}_ann{session.batch or session.trial or 2}"
        while key in seen:
            number += 1
            key = f"{session.session_id}_ann{number}"
        seen.add(key)
        yield key, session


def judge_all(
    sessions: Iterable[Session],
    settings: ModelSettings,
    instrument: Instrument,
    runtime: Runtime,
    *,
    concurrency: int = 4,
) -> Judged:
    """Judge every talk that took place.

    Parameters
    ----------
    sessions
        Talks; those that broke or hold no user turn are counted, not judged.
    settings
        The judge.
    runtime
        Cache, budget and pace; a judged talk costs nothing the second time.

    Raises
    ------
    UsiError
        What ends all judging (a refused key, a replay that lacks an answer).
    """
    result = Judged()
    wanted: list[tuple[str, str]] = []
    for key, session in keys_of(sessions):
        text = transcript(session)
        if session.status != "ok":
            result.left_out[session.status] += 1
        elif "User: " not in text:
            result.left_out["no_user_turn"] += 1
        else:
            wanted.append((key, text))

    def one(item: tuple[str, str]) -> Filled | EpisodeFault | RunStopped:
        try:
            return judge_one(item[1], settings, instrument, Calls(runtime, f"talk {item[0]}"))
        except EpisodeFault as fault:
            return fault
        except RunStopped as stopped:
            runtime.stopping.set()
            return stopped
        except UsiError:
            runtime.stopping.set()
            raise

    with ThreadPoolExecutor(max_workers=max(1, concurrency)) as pool:
        try:
            asked = [pool.submit(one, item) for item in wanted]
            all_ended(asked)
            for (key, _), future in zip(wanted, asked, strict=True):
                found = future.result()
                if isinstance(found, RunStopped):
                    result.stopped = result.stopped or found.why
                elif isinstance(found, EpisodeFault):
                    result.left_out[found.reason] += 1
                else:
                    result.answers[key] = found.answers
                    result.repaired += found.repaired
                    result.unanswered += found.unanswered
        except KeyboardInterrupt:
            runtime.stopping.set()
            runtime.interrupted.set()
            raise
    return result


def judge_one(text: str, settings: ModelSettings, instrument: Instrument, calls: Calls) -> Filled:
    """Judge one talk."""
    talk: Sequence[Message] = [
        {"role": "system", "content": ROLE},
        {"role": "user", "content": f"The conversation:\n\n{text}"},
    ]

    def ask(messages: list[Message]) -> Any:
        first, rest = messages[0], messages[1:]
        joined = {"role": "user", "content": f"{talk[1]['content']}\n\n{first['content']}"}
        answer = complete(settings, [talk[0], joined, *rest], calls=calls, json_object=True)
        if answer["finish"] == "length" and first_object(answer["content"] or "") is None:
            raise EpisodeFault("out_of_tokens", "the judge's answer was cut before it was one")
        return answer["content"]

    return fill_in(instrument, ask)
