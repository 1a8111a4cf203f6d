"""Sessions most unlike any session of people, and sessions most typical of their side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from usi.diagnose.sample import FloatArray, Sample, usable_features

MOST_SESSIONS = 2000
"""Sessions a side that are compared; more are sampled by seed."""
CLIP = 6.0
"""Human standard deviations beyond which one feature adds no more to a distance."""


Far = tuple[str, float, float, float]
"""Feature, value, mean of people, difference in human standard deviations."""


@dataclass(frozen=True)
class Picked:
    """One session.

    Attributes
    ----------
    key
        As in `Sample.keys`.
    distance
        To the nearest session of people, root mean square over features in human sd;
        ``None`` for people themselves.
    far
        (feature, value, mean of people, difference in human sd), furthest first.
    """

    key: str
    distance: float | None
    far: tuple[Far, ...]


@dataclass(frozen=True)
class Space:
    """Features in units of the human standard deviation around the human mean."""

    names: tuple[str, ...]
    mean: FloatArray
    sd: FloatArray

    @classmethod
    def of(cls, human: Sample, simulated: Sample) -> Space | None:
        """The features that vary among people; ``None`` where there is none."""
        names = usable_features(human, simulated)
        columns = human.columns(names)
        mean, sd = np.nanmean(columns.values, axis=0), np.nanstd(columns.values, axis=0)
        keep = sd > 0
        if not keep.any():
            return None
        chosen = tuple(name for name, ok in zip(names, keep.tolist(), strict=True) if ok)
        return cls(chosen, mean[keep], sd[keep])

    def place(self, sample: Sample) -> FloatArray:
        """(sessions, features) standardised values; undefined ones stand at the human mean."""
        z = (sample.columns(self.names).values - self.mean) / self.sd
        return np.asarray(np.clip(np.nan_to_num(z, nan=0.0), -CLIP, CLIP), dtype=np.float64)

    def far(
        self, sample: Sample, row: int, most: int
    ) -> tuple[tuple[str, float, float, float], ...]:
        """The features in which a session is furthest from the mean of people."""
        values = sample.columns(self.names).values[row]
        z = (values - self.mean) / self.sd
        known = [k for k in range(len(z)) if np.isfinite(z[k])]
        order = sorted(known, key=lambda k: (-abs(z[k]), self.names[k]))[:most]
        return tuple(
            (self.names[k], float(values[k]), float(self.mean[k]), float(z[k])) for k in order
        )


def nearest(candidate: FloatArray, people: FloatArray, *, block: int = 256) -> FloatArray:
    """Distance of each row to its nearest row of people, divided by the root of the features."""
    squares = (people**2).sum(axis=1)
    out = np.empty(len(candidate))
    for start in range(0, len(candidate), block):
        part = candidate[start : start + block]
        d = (part**2).sum(axis=1)[:, None] + squares[None, :] - 2 * part @ people.T
        out[start : start + block] = np.sqrt(np.maximum(d.min(axis=1), 0.0))
    return np.asarray(out / np.sqrt(people.shape[1]), dtype=np.float64)


def pick(
    human: Sample, simulated: Sample, *, unlike: int, typical: int, seed: int, far: int = 3
) -> tuple[list[Picked], list[Picked], list[Picked]]:
    """Sessions to show.

    Parameters
    ----------
    human, simulated
        Feature matrices over the same features.
    unlike, typical
        How many of each kind.
    seed
        Of the subsamples of large sides.

    Returns
    -------
    unlike, typical, people
        The simulator's sessions furthest from any session of people; those nearest to the
        simulator's own mean; people's sessions nearest to the mean of people.
    """
    people = human.subsample(MOST_SESSIONS, seed)
    own = simulated.subsample(MOST_SESSIONS, seed + 1)
    space = Space.of(people, own)
    if space is None:
        return [], [], []
    h, s = space.place(people), space.place(own)
    distance = nearest(s, h)

    def middle(points: FloatArray) -> list[int]:
        away = np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1))
        return [int(k) for k in np.argsort(away, kind="stable")]

    def chosen(sample: Sample, row: int, apart: float | None) -> Picked:
        return Picked(str(sample.keys[row]), apart, space.far(sample, row, far))

    furthest = [int(k) for k in np.argsort(-distance, kind="stable")[:unlike]]
    usual = [k for k in middle(s) if k not in furthest][:typical]
    return (
        [chosen(own, k, float(distance[k])) for k in furthest],
        [chosen(own, k, float(distance[k])) for k in usual],
        [chosen(people, k, None) for k in middle(h)[:typical]],
    )
