"""The simulators of the phantom by name."""

from __future__ import annotations

from dataclasses import replace

from usi.errors import unknown_name
from usi.phantom.blend import blend, collapse, make_independent
from usi.phantom.reading import load_spec, preset_names
from usi.phantom.spec import PhantomSpec

DEMO_SIMULATORS = ("copy", "off-topic", "polite", "collapsed")
"""The four of `usi demo`."""
_DERIVED = ("mild", "collapsed", "independent")


def simulator_names() -> tuple[str, ...]:
    """Every name that `get_simulator` knows."""
    return tuple(sorted({*preset_names(), *_DERIVED} - {"human"}))


def get_simulator(name: str, *, human: PhantomSpec | None = None) -> PhantomSpec:
    """A simulator with a known defect.

    Parameters
    ----------
    name
        ``copy`` (the human population itself), ``polite`` (easy mode), ``mild`` (halfway),
        ``collapsed`` (every session near the mean), ``independent`` (features independent within
        a person), or a single defect ``defect-...``.
    human
        The population that `copy`, `collapsed` and `independent` follow; default: the preset.

    Raises
    ------
    UsageError
        Where there is no such simulator, with near matches.
    """
    people = human or load_spec("human")
    if name == "copy":
        return replace(people, name="copy")
    if name == "mild":
        return blend(people, load_spec("polite"), 0.5, "mild")
    if name == "collapsed":
        return collapse(people)
    if name == "independent":
        return make_independent(people)
    if name not in simulator_names():
        raise unknown_name("phantom simulator", name, simulator_names())
    return load_spec(name)


def at_strength(strength: float, *, end: str = "polite") -> PhantomSpec:
    """The simulator between a perfect copy (0) and another (1), for studies at a boundary."""
    return blend(load_spec("human"), get_simulator(end), strength)
