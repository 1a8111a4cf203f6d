"""What a perfect simulator would score with this many tasks, batches and runs (closed forms).

E[D | perfect] = 100 (1 - sqrt(2/π) Σ se_k / (a + b)) over the cells of a feature, and
E[ECE | perfect] = sqrt(2/π) Σ w_k se_k over the bins, with standard errors of a simulator that
draws its sessions as the people do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from usi.extraction.spec import FeatureSpec
from usi.scoring.robust.sums import SideSums
from usi.scoring.robust.terms import ROOT, Contrast, Terms

Array = NDArray[np.float64]


def _pooled_within(sums: Array, squares: Array, counts: Array) -> tuple[Array, Array]:
    """Within-unit variance of each column and its degrees of freedom, by columns."""
    safe = np.maximum(counts, 1)
    rest = np.maximum(0.0, squares - sums * sums / safe)
    df = np.maximum(0.0, counts - 1).sum(axis=0)
    total = rest.sum(axis=0)
    return np.divide(total, df, out=np.full(np.shape(total), np.nan), where=df > 0), df


def _total_variance(sums: Array, squares: Array, counts: Array) -> Array:
    n = counts.sum(axis=0)
    mean = np.divide(sums.sum(axis=0), n, out=np.zeros_like(n), where=n > 0)
    rest = np.maximum(0.0, squares.sum(axis=0) - n * mean * mean)
    result: Array = np.full(n.shape, np.nan)
    np.divide(rest, n - 1, out=result, where=n > 1)
    return result


def _variance(sums: Array, squares: Array, counts: Array) -> Array:
    """Variance of a session around its task; around everything where tasks have one session."""
    within, df = _pooled_within(sums, squares, counts)
    enough = df >= np.maximum(1.0, 0.1 * (counts > 0).sum(axis=0))
    return np.asarray(np.where(enough, within, _total_variance(sums, squares, counts)))


def _inverse(counts: Array) -> Array:
    result: Array = np.zeros_like(counts)
    np.divide(1.0, counts, out=result, where=counts > 0)
    return result


def perfect_errors(
    simulator: SideSums, human: SideSums, data: Contrast, added: Array | None = None
) -> Array:
    """Standard errors of simulator - human for a perfect simulator, by features, cells and bins.

    Paired: Var = Σ_t v_t² s² (1/m_t + 1/R_t) with s² the people's variance within tasks. With
    one human batch s² is the total variance of sessions (independent sessions, no batch effect).
    Unpaired: the people's own standard error, and again at the simulator's number of clusters.

    Parameters
    ----------
    added
        What few participants add to the variance of each column.

    Returns
    -------
    array of shape (features + cells + bins,)
    """
    columns = len(data.features) + len(data.bins)
    own = _errors(simulator, human, data, columns)
    return own if added is None else np.sqrt(own**2 + added[:columns])


def _errors(simulator: SideSums, human: SideSums, data: Contrast, columns: int) -> Array:
    if not data.paired:
        n_s, n_h = data.clusters
        return np.asarray(data.human_se[:columns] * np.sqrt(1 + n_h / max(1, n_s)))
    counts, other = human.per_unit(human.counts), simulator.per_unit(simulator.counts)
    s2 = _variance(human.per_unit(human.sums), human.per_unit(human.squares), counts)
    both = (counts > 0) & (other > 0)
    spread = ((_inverse(counts) + _inverse(other)) * both).sum(axis=0)
    tasks = both.sum(axis=0)
    var = np.divide(s2 * spread, tasks**2, out=np.full(len(s2), np.nan), where=tasks > 0)

    y, m = human.per_unit(human.success), human.per_unit(human.outcomes)
    runs = simulator.per_unit(simulator.outcomes)
    m_bin = human.per_unit_bin(human.outcomes)
    share = m_bin * _inverse(m)[:, None] * (runs > 0)[:, None]
    rest = np.maximum(0.0, y - y * y * _inverse(m))  # Σ y² = Σ y for 0 and 1
    df = (np.maximum(0.0, m - 1)[:, None] * share).sum(axis=0)
    mass = share.sum(axis=0)
    within = np.divide(
        (rest[:, None] * share).sum(axis=0), df, out=np.full(len(mass), np.nan), where=df > 0
    )
    rate = data.human[data.bin_columns]
    s2_bin = np.where(df >= np.maximum(1.0, 0.1 * mass), within, rate * (1 - rate))
    parts = share**2 * (_inverse(m_bin) + _inverse(runs)[:, None] * (runs > 0)[:, None])
    var_bin = np.divide(
        s2_bin * parts.sum(axis=0), mass**2, out=np.full(len(mass), np.nan), where=mass > 0
    )
    return np.asarray(np.sqrt(np.concatenate([var, var_bin])))


def ceilings(
    errors: Array, data: Contrast, terms: Mapping[str, Terms], specs: Sequence[FeatureSpec]
) -> dict[str, float]:
    """Expected score of a perfect simulator in each component, points within 0 to 100.

    Parameters
    ----------
    errors
        From `perfect_errors`.
    """
    scale = {spec.name: spec.scale for spec in specs}
    result = {}
    for component, own in terms.items():
        if component == "outcome":
            keep = [data.bins.index(name) for name in own.names]
            weight = data.weight[keep] / data.weight[keep].sum()
            loss = float(weight @ errors[len(data.features) :][keep])
        else:
            loss = 0.0
            for name, c in zip(own.names, own.weight, strict=True):
                human = float(data.human[data.place[name]])
                slope = {"ratio": 0.5, "interval": 1.0}.get(scale[name])
                if slope is None:
                    slope = 1 / (2 * human) if human > 0 else np.inf
                noise = slope * float(errors[data.cells[name]].sum())
                # no feature can lose more than all of its points
                loss += c * min(noise, 1 / ROOT)
        if np.isfinite(loss):
            result[component] = min(100.0, max(0.0, 100.0 * (1.0 - ROOT * loss)))
    return result
