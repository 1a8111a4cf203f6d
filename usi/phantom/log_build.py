"""Writing a synthetic log with its configuration, as a user's logs would lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from usi.phantom.log_draw import log_frames
from usi.phantom.log_spec import ACTIVITIES, LogPhantom, load_log_phantom, log_preset_names

CONFIG = """\
# SYNTHETIC: configuration of a phantom log. No people took part.
name = "phantom-log"
version = "1"
title = "Phantom: a synthetic service desk with known rates"

[read]
rows = "update"
timezone = "UTC"

[columns]
case_id = "case_id"
activity = "activity"
timestamp = "timestamp"
resource = "resource"
group = "group"
priority = "priority"
category = "category"
actor = "actor"
sla_met = "sla_met"
synthetic = "synthetic"

[fields]
tracked = ["category", "priority"]
required = ["category", "priority"]

[classes]
"""
_FEATURES = """
[features]
missing_group = "drop"
reclassified = ["category", "priority"]
"""


@dataclass(frozen=True)
class PhantomLogs:
    """What `build_phantom_logs` wrote.

    Attributes
    ----------
    human
        CSV of the desk that stands for people.
    simulators
        Simulator -> its CSV, in the order of the call.
    config
        TOML for all of them.
    """

    human: Path
    simulators: dict[str, Path]
    config: Path


def config_text() -> str:
    """Configuration of every phantom log, as TOML."""
    classes = [f'"{name}" = "{kind}"' for name, kind in ACTIVITIES.items()]
    return CONFIG + "\n".join(classes) + "\n" + _FEATURES


def write_phantom_log(
    spec: LogPhantom, path: str | Path, *, cases: int = 2000, seed: int = 7
) -> Path:
    """Write one synthetic log as CSV, in memory that does not grow with it."""
    target, form = Path(path), "%Y-%m-%dT%H:%M:%S%.6f%:z"
    with target.open("wb") as file:
        for number, frame in enumerate(log_frames(spec, cases, seed=seed)):
            frame.write_csv(file, include_header=not number, datetime_format=form)
    return target


def build_phantom_logs(
    folder: str | Path,
    *,
    cases: int = 2000,
    seed: int = 7,
    simulators: Sequence[str | LogPhantom] | None = None,
) -> PhantomLogs:
    """Write a human log, simulated logs and the configuration; all marked as synthetic.

    Parameters
    ----------
    folder
        Where to; made if it is not there.
    cases, seed
        Cases a log; same seed, same bytes.
    simulators
        Names of presets or specs; default: every preset but ``human``.
    """
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    names = simulators
    if names is None:
        names = [name for name in log_preset_names() if name != "human"]
    config = root / "phantom-log.toml"
    config.write_text(config_text(), encoding="utf-8")
    human = write_phantom_log(
        load_log_phantom("human"), root / "human_log.csv", cases=cases, seed=seed
    )
    files: dict[str, Path] = {}
    for number, which in enumerate(names, 1):
        spec = load_log_phantom(which) if isinstance(which, str) else which
        files[spec.name] = write_phantom_log(
            spec, root / f"{spec.name}.csv", cases=cases, seed=seed + 1000 * number
        )
    return PhantomLogs(human, files, config)
