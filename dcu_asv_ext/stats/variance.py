"""How much rounds of one commit differ: the variance between rounds, moderated by what is known beforehand.

Model (Smyth 2004, doi 10.2202/1544-6115.1027, as in limma): the variance of one run is s0^2 * d0 / chi^2(d0), so run
variances follow s0^2 F(df, d0). d0 says how alike the runs of a benchmark are, which is how much its history counts;
it is not fixed but averaged over its likelihood (Bayesian model averaging over a grid).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .rounds import MAD_TO_SD, Earlier, Floats, robust_sd

#: Between-round standard deviation of a benchmark of which nothing is known: over the benchmarks of public same-build
#: data it is 0.6 to 1 % (geometric mean). Its degrees of freedom are few, since a busy machine has ten times as much:
#: of one round a side only what is more than three times slower is believed.
POPULATION_SD, POPULATION_DF = 0.005, 0.5
#: So many differences of a suite of single rounds tell of each, with at most these degrees of freedom.
FEWEST_SINGLES, SINGLE_DF = 4, 3.0
#: What a median absolute deviation is worth beside a standard deviation.
MAD_EFFICIENCY = 0.37

#: No clock and no machine repeats itself better than this (log).
FLOOR = 1e-12

#: Steps between earlier runs from which the variance between sessions can be told; with fewer, the standard deviation
#: and degrees of freedom taken for it (one build on one tuned machine moves by 0.8 % from day to day).
FEWEST_SESSIONS, SESSION_SD, SESSION_DF = 6, 0.005, 3.0
#: No machine comes back to the same level better than this (variance of the log).
SESSION_FLOOR = 1e-8
#: So many benchmarks tell what is typical of their suite.
FEWEST_OF_SUITE = 10

#: Degrees of freedom d0 among which the likeliest is looked for, and over which a history's are averaged.
_FINE = np.array([1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 40.0, 70.0, 120.0, 240.0])
_COARSE = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 40.0, 240.0])
#: Today's variance over that of the history, and how probable each is before a suite has told: the machine may be
#: busier than it ever was; and drift that both sides of a pair share goes out of their difference.
_TODAY = np.array([1.0, 2.0, 4.0, 9.0, 25.0]), np.array([0.99, *[0.0025] * 4])
_TODAY_PAIRED = np.array([*_TODAY[0], 0.7, 0.4, 0.2, 0.1, 0.03]), np.array([*0.8 * _TODAY[1], *[0.04] * 5])


@dataclass(frozen=True)
class Mixture:
    """A variance as a mixture of scaled inverse chi-squares, for N comparisons: each array (N, components).

    logs: log weights. scale: variance. df: degrees of freedom.
    """

    logs: Floats
    scale: Floats
    df: Floats

    def take(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Mixture:
        return Mixture(self.logs[index], self.scale[index], self.df[index])

    @cached_property
    def weights(self) -> Floats:
        raised = np.exp(self.logs - self.logs.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    @cached_property
    def mean_scale(self) -> Floats:
        return np.asarray((self.weights * self.scale).sum(axis=1))

    @cached_property
    def mean_df(self) -> Floats:
        return np.asarray((self.weights * self.df).sum(axis=1))


def population(sampling: Floats, df: Floats) -> Mixture:
    """Where nothing but the spread inside the rounds is known. sampling: (N,) variance of a round's log median.
    df: (N,) the comparisons' own degrees of freedom; the more there are, the less a foreign figure counts."""
    scale = POPULATION_SD**2 + sampling
    return Mixture(np.zeros((len(df), 1)), scale[:, None], (POPULATION_DF / (1.0 + df))[:, None])


def suite_prior(
    variances: Floats, df: Floats, sampling: Floats, differences: Floats, factor: Floats
) -> Mixture:
    """The same from the suite's own variances (N,), where there are enough of them: its typical variance and how far
    its benchmarks spread around it. Of single rounds, which have no variance, from how far the differences of the
    suite lie apart (MAD). factor: of a round's variance in that of the difference."""
    count = len(variances)
    usable = df > 0
    if usable.sum() >= FEWEST_OF_SUITE:
        likeliest_df, scale = _likeliest(variances[usable], df[usable])
        return Mixture(np.zeros((count, 1)), np.full((count, 1), scale), np.full((count, 1), likeliest_df))
    if count >= FEWEST_SINGLES and not usable.any():
        spread = robust_sd(differences, float(np.median(differences)))
        scales = np.maximum(spread**2 / factor, POPULATION_SD**2)
        df_of_singles = min(SINGLE_DF, MAD_EFFICIENCY * (count - 1))
        return Mixture(np.zeros((count, 1)), scales[:, None], np.full((count, 1), df_of_singles))
    return population(sampling, df)


def with_history(base: Mixture, variances: Floats, df: Floats) -> Mixture:
    """A benchmark's prior from its own earlier runs. variances, df: (N, runs), df 0 where a run is absent.

    base (one component) speaks the less the more the history says: as 2 / (2 + history's degrees of freedom).
    """
    log_scale, likelihood = _fit(variances, df, _COARSE)
    total = df.sum(axis=1, keepdims=True)
    # The history's own scale is known with `total` degrees of freedom only.
    own_df = 1.0 / (1.0 / _COARSE + 1.0 / total)
    lent = base.df * 2.0 / (2.0 + total)
    scale = (own_df * np.exp(log_scale) + lent * base.scale) / (own_df + lent)
    return Mixture(likelihood, scale, own_df + lent)


def prior_of(base: Mixture, earlier: Sequence[Earlier], own: Floats, own_df: Floats, paired: bool) -> Mixture:
    """What is known before N comparisons of one kind. base: without a history; earlier: their histories, none of them
    empty, or all; own, own_df: (N,) the comparisons' own variances."""
    has_history = len(earlier[0]) > 0
    prior = with_history(base, *_padded(earlier)) if has_history else base
    if paired:
        prior = of_differences(prior)
    return of_today(prior, own, own_df, paired) if has_history else prior


def _padded(earlier: Sequence[Earlier]) -> tuple[Floats, Floats]:
    """Variances and degrees of freedom, (N, runs) each; 0 degrees of freedom where a run is absent."""
    longest = max(len(one) for one in earlier)
    values, df = np.zeros((len(earlier), longest)), np.zeros((len(earlier), longest))
    for row, one in enumerate(earlier):
        values[row, : len(one)], df[row, : len(one)] = one.variances, one.df
    return values, df


def of_differences(prior: Mixture) -> Mixture:
    """The prior of the variance of paired differences, which hold two rounds each."""
    return Mixture(prior.logs, 2.0 * prior.scale, prior.df)


def of_today(prior: Mixture, variances: Floats, df: Floats, paired: bool) -> Mixture:
    """A history's prior, with room for today's rounds to be noisier than those were, and for paired differences to be
    quieter, as they hold no drift. variances, df: (N,) the comparisons' own.

    How much the noise has changed the comparison's own variance tells; of ten or more, all of them together tell how
    common each change is (expectation maximisation).
    """
    factors, expected = _TODAY_PAIRED if paired else _TODAY
    count, parts = prior.scale.shape
    scale = (prior.scale[:, :, None] * factors).reshape(count, -1)
    wide = Mixture(
        np.repeat(prior.logs, len(factors), axis=1), scale, np.repeat(prior.df, len(factors), axis=1)
    )
    chances = expected
    if count >= FEWEST_OF_SUITE:
        told = posterior(wide, variances, df).logs.reshape(count, parts, len(factors))
        each = np.logaddexp.reduce(told, axis=1)
        each = np.exp(each - each.max(axis=1, keepdims=True))
        for _ in range(20):
            shares = each * chances
            # As if one more benchmark had said what is expected: no change is ever ruled out.
            chances = ((shares / shares.sum(axis=1, keepdims=True)).sum(axis=0) + expected) / (count + 1)
    return replace(wide, logs=wide.logs + np.tile(np.log(chances), parts))


def posterior(prior: Mixture, variances: Floats, df: Floats) -> Mixture:
    """The prior after a comparison's own variance (N,) with its degrees of freedom (N,)."""
    from scipy.special import gammaln

    own, spread = df[:, None], np.maximum(variances, FLOOR)[:, None]
    known, scale = prior.df, np.maximum(prior.scale, FLOOR)
    evidence = (
        gammaln((own + known) / 2)
        - gammaln(known / 2)
        + known / 2 * np.log(known * scale)
        - (own + known) / 2 * np.log(known * scale + own * spread)
    )
    return Mixture(prior.logs + evidence, (known * scale + own * spread) / (known + own), known + own)


def session_variances(levels: Sequence[Floats], within: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Variance between the sessions of each of N benchmarks, and its degrees of freedom, (N,), from their levels
    (log) in successive earlier runs. within: the part of a level's variance that its own rounds explain, one per run.

    Robust, since some of the steps between runs are real changes: the MAD of the steps, about zero. Ten benchmarks
    or more lend each other their typical value.
    """
    found, df = np.full(len(levels), SESSION_SD**2), np.full(len(levels), SESSION_DF)
    told = np.zeros(len(levels), dtype=bool)
    for length in {len(own) for own in levels}:
        if length <= FEWEST_SESSIONS:
            continue
        alike = np.array([place for place, own in enumerate(levels) if len(own) == length])
        steps = np.diff(np.array([levels[place] for place in alike]), axis=1)
        explained = np.median(np.array([within[place] for place in alike]), axis=1)
        total = (MAD_TO_SD * np.median(np.abs(steps), axis=1)) ** 2 / 2
        found[alike] = np.maximum(total - explained, SESSION_FLOOR)
        # Neighbouring steps share a level.
        df[alike], told[alike] = MAD_EFFICIENCY * (length - 1) * 2 / 3, True
    if told.sum() >= FEWEST_OF_SUITE:
        lent, typical = _likeliest(found[told], df[told])
        found[told] = (lent * typical + df[told] * found[told]) / (lent + df[told])
        df[told] += lent
    return found, df


def across_sessions(known: Mixture, factor: Floats, lasting: Floats, df: Floats) -> Mixture:
    """The variance of a difference whose sides were measured in two sessions. lasting: the part of the difference's
    variance that sessions make, with `df` degrees of freedom, (N,) each.

    The degrees of freedom are weighted by the parts of the variance, in the manner of Cochran (1964), which is the
    cautious one; noise that comes in addition never makes an interval narrower.
    """
    from scipy.special import stdtrit

    rounds = known.scale * factor[:, None]
    both = rounds + lasting[:, None]
    share = lasting[:, None] / both
    joined = 1.0 / ((1.0 - share) / known.df + share / df[:, None])
    # Only more degrees of freedom than the rounds have can do that.
    more = joined > known.df
    old_reach, new_reach = (stdtrit(one[more], 0.025) ** 2 for one in (known.df, joined))
    narrower = np.zeros(more.shape, dtype=bool)
    narrower[more] = new_reach * both[more] < old_reach * rounds[more]
    scale = np.where(narrower, known.scale, both / factor[:, None])
    return Mixture(known.logs, scale, np.where(narrower, known.df, joined))


def _likeliest(variances: Floats, df: Floats) -> tuple[float, float]:
    """d0 and s0^2 of the variances (runs,) by maximum likelihood."""
    log_scale, likelihood = _fit(variances[None, :], df[None, :], _FINE)
    best = int(np.argmax(likelihood[0]))
    return float(_FINE[best]), float(np.exp(log_scale[0, best]))


def _fit(variances: Floats, df: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """Scale of s0^2 F(df, d0) by maximum likelihood for each d0 of the grid (G,).

    variances, df: (N, runs) -> log s0^2 (N, G), log likelihood (N, G). Newton's method on the log of the scale, in
    which the likelihood is concave.
    """
    from scipy.special import gammaln

    present = df > 0
    safe_df = np.where(present, df, 1.0)
    # A run whose rounds agree to the last digit of a coarse clock must not decide the fit.
    least = np.maximum(1e-4 * _medians(variances, present), FLOOR)
    logs = np.log(np.maximum(np.where(present, variances, 1.0), least[:, None]))
    counts = np.maximum(present.sum(axis=1), 1)
    known = grid[None, :, None]
    # From the mean of the logs, without what that of log F(df, d0) has of its own.
    middle = (np.where(present, logs - _mean_log(safe_df), 0.0).sum(axis=1) / counts)[:, None]
    scale = middle + _mean_log(grid)[None, :]
    own, logs = safe_df[:, None, :], logs[:, None, :]
    weight = present[:, None, :]
    half = (own + known) / 2
    apart = np.log(known / own) - logs
    weighted, constant = weight * half, (weight * own / 2).sum(axis=2)
    for _ in range(40):
        share = 1.0 / (1.0 + np.exp(scale[:, :, None] + apart))
        parts = weighted * share
        curvature = (parts * (1 - share)).sum(axis=2)
        step = np.clip((parts.sum(axis=2) - constant) / np.maximum(curvature, 1e-12), -1.0, 1.0)
        scale = scale + step
        if np.abs(step).max(initial=0.0) < 1e-6:
            break
    s = scale[:, :, None]
    terms = (
        _log_gammas(safe_df, grid)
        - gammaln(known / 2)
        + known / 2 * (np.log(known) + s)
        - half * np.log(known * np.exp(s) + own * np.exp(logs))
    )
    return scale, np.asarray((weight * terms).sum(axis=2))


def _mean_log(df: Floats) -> Floats:
    """Mean of log(chi^2(df) / df)."""
    from scipy.special import digamma

    different, place = np.unique(df, return_inverse=True)
    return np.asarray((digamma(different / 2) - np.log(different / 2))[place.reshape(df.shape)])


def _medians(values: Floats, present: NDArray[np.bool_]) -> Floats:
    """Of each row's present values (N, runs) -> (N,), 0 where there is none."""
    count, rows = present.sum(axis=1), np.arange(len(values))
    ordered = np.sort(np.where(present, values, np.inf), axis=1)
    low = ordered[rows, np.maximum(count - 1, 0) // 2]
    high = ordered[rows, np.minimum(count // 2, values.shape[1] - 1)]
    return np.where(count > 0, (low + high) / 2, 0.0)


def _log_gammas(df: Floats, grid: Floats) -> Floats:
    """log gamma((df + d0) / 2), (N, G, runs): runs have few different degrees of freedom."""
    from scipy.special import gammaln

    different, place = np.unique(df, return_inverse=True)
    table = gammaln((different[None, :] + grid[:, None]) / 2)
    return np.asarray(table[:, place.reshape(df.shape)].transpose(1, 0, 2))
