"""What a corpus says about its own use: parts, a frozen set of features, restrictions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

import polars as pl

from usi.corpora.resolve import Corpus
from usi.errors import InputError, NotScorable, UsageError
from usi.extraction.profile import get_feature_profile
from usi.extraction.spec import DIMENSIONS
from usi.extraction.table import SessionTable
from usi.reasons import (
    NO_REDISTRIBUTION,
    OTHER_PART,
    RESEARCH_ONLY,
    TASK_SAMPLE,
    Reason,
)
from usi.scoring.robust.scorable import POOL

if TYPE_CHECKING:
    from usi.scoring.inputs import SideInput


def keep_part(side: SideInput, reference: Corpus) -> None:
    """Leave the sessions of the other parts out of the people's table and of those beside it.

    Raises
    ------
    NotScorable
        Where no session of the part is there.
    """
    part = reference.part
    if part is None:
        return
    table = side.tables[""]
    inside = table.frame[part.column].cast(pl.String).is_in(list(part.units)).fill_null(False)
    if not inside.any():
        raise NotScorable(
            f"{reference.name}: no session of this part is in the files; split.toml belongs to "
            "other files, so split the corpus again"
        )
    counts = side.left_out.setdefault("", Counter())
    counts[OTHER_PART()] += int((~inside).sum())

    def kept(own: SessionTable) -> SessionTable:
        if own.frame.height != len(inside):
            return own
        return replace(own, frame=own.frame.filter(inside))

    side.tables[""] = kept(table)
    for others in (side.anchors, side.published):
        for name, other in others.items():
            others[name] = kept(other)


def freeze(side: SideInput, reference: Corpus, profile: str) -> None:
    """Put the frozen set of the manifest on the people's table.

    Raises
    ------
    UsageError
        Where the set was fixed for another version of the profile.
    InputError
        Where it names a feature that the profile does not have.
    """
    frozen, tag = reference.scorable, reference.scorable_profile
    if frozen is None or tag is None:
        return
    own = get_feature_profile(profile)
    if tag.partition("@")[0] != own.name:
        return  # the set of another profile says nothing about this one
    if tag not in (own.name, own.tag):
        raise UsageError(
            f"{reference.name} fixes its features for {tag}, and this usi has {own.tag}: freeze "
            f"them again (usi corpus freeze {reference.name})"
        )
    known = [*(spec.name for spec in own.specs), *(POOL + name for name in DIMENSIONS)]
    for name in frozen:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"{own.tag} has no feature {name!r}{hint}",
                file=f"manifest of {reference.name}",
                field="scorable.features",
            )
    side.tables[""] = replace(side.tables[""], scorable=tuple(frozen))


def restrictions(reference: Corpus) -> list[Reason]:
    """What a reader of the card may not do, or conclude."""
    licence = reference.licence or "its licence"
    terms = f"{licence} ({reference.terms})" if reference.terms else licence
    forbidden = not reference.redistribute and reference.declared
    return [
        *([RESEARCH_ONLY(terms=terms)] if reference.research_only else []),
        *([NO_REDISTRIBUTION(terms=terms)] if forbidden else []),
        *([TASK_SAMPLE(sample=reference.task_sample)] if reference.task_sample else []),
    ]
