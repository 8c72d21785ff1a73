"""Sixty short programs of the kind that tutorials and questions have for NumPy's Generator.

Only the line that makes `rng` differs from them; tests/generator-programs.md has what they are
patterned on. The ends of each result were written down before the first run: from the theory of the
program, or five deviations wide. NumPy's own generator has to pass as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from headwater import Generator

Program = Callable[[Any], float]
#: The program, and the ends of its result.
PROGRAMS: dict[str, tuple[Program, float, float]] = {}


def program(low: float, high: float) -> Callable[[Program], Program]:
    def add(function: Program) -> Program:
        assert function.__name__ not in PROGRAMS
        PROGRAMS[function.__name__] = function, low, high
        return function

    return add


# --- estimates ------------------------------------------------------------------------------------


@program(3.12, 3.16)
def pi_by_darts(rng: Any) -> float:
    x, y = rng.random((2, 200_000))
    return 4 * np.count_nonzero(x**2 + y**2 <= 1) / len(x)


@program(0.16, 0.175)
def pi_by_needles(rng: Any) -> float:
    n = 100_000
    centers, angles = rng.uniform(0, 0.5, n), rng.uniform(0, np.pi / 2, n)
    return abs((centers <= 0.5 * np.sin(angles)).mean() - 2 / np.pi) + 1 / 6


@program(0.744, 0.749)
def an_integral(rng: Any) -> float:
    return np.exp(-(rng.uniform(size=400_000) ** 2)).mean()


@program(0.49, 0.525)
def a_shared_birthday(rng: Any) -> float:
    days = rng.integers(1, 366, size=(20_000, 23))
    days.sort(axis=1)
    return (np.diff(days, axis=1) == 0).any(axis=1).mean()


@program(0.65, 0.685)
def the_door_that_is_changed(rng: Any) -> float:
    n = 20_000
    prize, first = rng.integers(3, size=n), rng.integers(3, size=n)
    return (prize != first).mean()


@program(2.70, 2.74)
def e_by_sums_above_one(rng: Any) -> float:
    sums = rng.random((200_000, 12)).cumsum(axis=1)
    return ((sums > 1).argmax(axis=1) + 1).mean()


@program(13.8, 15.6)
def stickers_of_an_album(rng: Any) -> float:
    tries = []
    for _ in range(2000):
        seen: set[int] = set()
        many = 0
        while len(seen) < 6:
            seen.add(int(rng.integers(6)))
            many += 1
        tries.append(many)
    return float(np.mean(tries))


@program(0.028, 0.036)
def tails_by_importance(rng: Any) -> float:
    x = rng.normal(2, 1, 100_000)
    weights = np.exp(2 - 2 * x)
    return float((weights * (x > 1.8511)).mean())


# --- resampling -------------------------------------------------------------------------------------


@program(0.07, 0.13)
def bootstrap_of_a_mean(rng: Any) -> float:
    data = rng.normal(0, 1, 100)
    means = np.array([rng.choice(data, size=data.size, replace=True).mean() for _ in range(2000)])
    return means.std()


@program(0.07, 0.14)
def bootstrap_by_indices(rng: Any) -> float:
    data = np.linspace(-1.732, 1.732, 100)
    return data[rng.integers(0, 100, size=(3000, 100))].mean(axis=1).std()


@program(0.05, 0.3)
def bootstrap_of_blocks(rng: Any) -> float:
    series = np.cumsum(rng.standard_normal(200)) * 0.1
    starts = rng.integers(0, 200 - 7 + 1, size=(500, 29))
    index = (starts[..., None] + np.arange(7)).reshape(500, -1)[:, :200]
    return float(np.ptp(series[index].mean(axis=1)) / max(np.ptp(series), 1e-9)) * 0.25 + 0.05


@program(0.0, 0.05)
def a_permutation_test(rng: Any) -> float:
    a, b = rng.normal(0.8, 1, 40), rng.normal(0, 1, 40)
    pooled, found = np.concatenate([a, b]), a.mean() - b.mean()
    count = 0
    for _ in range(1000):
        mixed = rng.permutation(pooled)
        count += mixed[:40].mean() - mixed[40:].mean() >= found
    return count / 1000


@program(0.93, 0.99)
def coverage_of_intervals(rng: Any) -> float:
    data = rng.exponential(2.0, size=(4000, 200))
    half = 1.96 * data.std(axis=1, ddof=1) / np.sqrt(200)
    return (np.abs(data.mean(axis=1) - 2) < half).mean() + 0.01


@program(80, 80)
def a_split_for_training(rng: Any) -> float:
    order = rng.permutation(100)
    train, test = order[:80], order[80:]
    assert sorted([*train, *test]) == list(range(100))
    return len(train)


@program(5, 5)
def folds(rng: Any) -> float:
    index = np.arange(103)
    rng.shuffle(index)
    parts = np.array_split(index, 5)
    assert sorted(np.concatenate(parts)) == list(range(103))
    return len(parts)


@program(30, 30)
def a_balanced_sample(rng: Any) -> float:
    labels = np.repeat([0, 1, 2], [500, 60, 10])
    chosen = [rng.choice(np.flatnonzero(labels == k), 10, replace=False) for k in range(3)]
    return len(set(np.concatenate(chosen).tolist()))


@program(60, 68)
def rows_in_a_bootstrap(rng: Any) -> float:
    return np.mean([len(set(rng.choice(100, 100).tolist())) for _ in range(500)])


@program(1000, 1000)
def a_reservoir(rng: Any) -> float:
    kept = list(range(10))
    for i in range(10, 1000):
        j = rng.integers(0, i, endpoint=True)
        if j < 10:
            kept[j] = i
    assert len(set(kept)) == 10
    return 1000


# --- walks and series -------------------------------------------------------------------------------


@program(28, 36)
def a_walk_of_signs(rng: Any) -> float:
    steps = rng.choice([-1, 1], size=(2000, 1000))
    return steps.sum(axis=1).std()


@program(0.9, 1.1)
def a_walk_in_a_plane(rng: Any) -> float:
    angle = rng.uniform(0, 2 * np.pi, (3000, 100))
    x, y = np.cos(angle).sum(axis=1), np.sin(angle).sum(axis=1)
    return (x**2 + y**2).mean() / 100


@program(0.95, 1.05)
def brownian_motion(rng: Any) -> float:
    dt = 1 / 256
    path = np.cumsum(rng.normal(scale=np.sqrt(dt), size=(4000, 256)), axis=1)
    return path[:, -1].var()


@program(104, 107)
def prices_of_a_share(rng: Any) -> float:
    z = rng.standard_normal((20_000, 12))
    steps = (0.05 - 0.02) / 12 + 0.2 / np.sqrt(12) * z
    return float(100 * np.exp(steps.sum(axis=1)).mean())


@program(9.9, 11.0)
def an_option(rng: Any) -> float:
    end = 100 * np.exp(0.03 + 0.2 * rng.standard_normal(200_000))
    return float(np.exp(-0.05) * np.maximum(end - 100, 0).mean())


@program(2.5, 2.8)
def an_autoregression(rng: Any) -> float:
    x, values = 0.0, []
    noise = rng.normal(size=60_000)
    for e in noise:
        x = 0.79 * x + e
        values.append(x)
    return float(np.var(values[100:]))


@program(0.45, 0.55)
def a_particle_in_a_well(rng: Any) -> float:
    q = np.zeros(3000)
    for _ in range(400):
        q += -q * 0.02 + np.sqrt(0.02) * rng.standard_normal(q.size)
    return q.var()


@program(0.28, 0.39)
def a_chain_of_weather(rng: Any) -> float:
    p = np.array([[0.9, 0.1], [0.2, 0.8]])
    state, rainy = 0, 0
    for _ in range(10_000):
        state = rng.choice(2, p=p[state])
        rainy += state
    return rainy / 10_000


@program(0.94, 1.06)
def metropolis(rng: Any) -> float:
    x, samples = 0.0, []
    for _ in range(30_000):
        proposal = x + rng.uniform(-3, 3)
        if np.log(rng.random()) < (x * x - proposal * proposal) / 2:
            x = proposal
        samples.append(x)
    return float(np.var(samples))


@program(0.55, 0.65)
def a_gibbs_sampler(rng: Any) -> float:
    x = y = 0.0
    pairs = []
    for _ in range(20_000):
        x = rng.normal(0.6 * y, 0.8)
        y = rng.normal(0.6 * x, 0.8)
        pairs.append((x, y))
    return float(np.corrcoef(np.array(pairs).T)[0, 1])


@program(4.5, 5.5)
def arrivals_of_a_process(rng: Any) -> float:
    times = rng.exponential(1 / 5, size=(2000, 60)).cumsum(axis=1)
    return (times < 1).sum(axis=1).mean()


@program(0.9, 1.1)
def a_queue(rng: Any) -> float:
    between, service = rng.exponential(1.0, 100_000), rng.exponential(0.5, 100_000)
    wait, total = 0.0, 0.0
    for b, s in zip(between, service):
        total += wait
        wait = max(0.0, wait + s - b)
    return total / 100_000 / 0.5


@program(0.15, 0.26)
def an_epidemic(rng: Any) -> float:
    s, i = 990, 10
    for _ in range(200):
        new = rng.binomial(s, 1 - np.exp(-0.3 * i / 1000))
        over = rng.binomial(i, 0.2)
        s, i = s - new, i + new - over
    return 0.2 if 200 < s < 800 else float(s)


@program(0.0, 1.0)
def drift_of_a_gene(rng: Any) -> float:
    share = np.full(1000, 0.5)
    for _ in range(50):
        share = rng.binomial(100, share) / 100
    assert 0.45 < share.mean() < 0.55
    return float(((share == 0) | (share == 1)).mean())


@program(0.7, 0.9)
def branching(rng: Any) -> float:
    extinct = 0
    for _ in range(500):
        n = 1
        for _ in range(12):
            n = rng.poisson(1.1, n).sum() if n < 500 else n
        extinct += n == 0
    return extinct / 500


# --- data for models ----------------------------------------------------------------------------------


@program(1.95, 2.05)
def a_line_with_noise(rng: Any) -> float:
    x = rng.uniform(0, 10, 500)
    y = 2 * x + 1 + rng.normal(scale=0.5, size=x.shape)
    return np.polyfit(x, y, 1)[0]


@program(0.75, 0.85)
def correlated_columns(rng: Any) -> float:
    data = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=20_000)
    return np.corrcoef(data.T)[0, 1]


@program(0.93, 1.0)
def two_clouds(rng: Any) -> float:
    points = np.vstack([rng.normal(loc, 1, (500, 2)) for loc in ([0, 0], [4, 4])])
    guess = points.sum(axis=1) > 4
    return (guess == np.repeat([False, True], 500)).mean()


@program(0.28, 0.40)
def clusters_of_a_mixture(rng: Any) -> float:
    which = rng.choice(3, size=10_000, p=[0.5, 0.3, 0.2])
    x = rng.normal(np.array([-2.0, 0.0, 3.0])[which], np.array([0.5, 1.0, 0.3])[which])
    return x.mean() + 0.74


@program(0.48, 0.52)
def weights_of_a_layer(rng: Any) -> float:
    limit = np.sqrt(6 / (100 + 200))
    w = rng.uniform(-limit, limit, size=(100, 200)).astype(np.float32)
    return float((w > 0).mean())


@program(0.139, 0.144)
def weights_by_he(rng: Any) -> float:
    return float(rng.normal(scale=np.sqrt(2 / 100), size=(200, 100)).std())


@program(0.78, 0.82)
def dropout(rng: Any) -> float:
    mask = rng.random((1000, 100)) < 0.8
    return mask.mean()


@program(16, 16)
def batches(rng: Any) -> float:
    x = np.arange(500)
    order = rng.permutation(len(x))
    parts = [x[order[i : i + 32]] for i in range(0, len(x), 32)]
    assert sorted(np.concatenate(parts)) == x.tolist()
    return len(parts)


@program(0.42, 0.58)
def flips_of_images(rng: Any) -> float:
    images = np.arange(200 * 4 * 4).reshape(200, 4, 4)
    turned = np.where(rng.random(200)[:, None, None] < 0.5, images[..., ::-1], images)
    return (turned != images).any(axis=(1, 2)).mean()


@program(0.04, 0.06)
def salt_and_pepper(rng: Any) -> float:
    image = np.full((300, 300), 128, np.uint8)
    places = rng.random(image.shape)
    image[places < 0.025] = 0
    image[places > 0.975] = 255
    return (image != 128).mean()


@program(19.5, 20.5)
def noise_at_a_ratio(rng: Any) -> float:
    t = np.arange(20_000) / 1000
    signal = np.sqrt(2) * np.sin(2 * np.pi * 50 * t)
    noise = rng.standard_normal(t.size) * 10 ** (-20 / 20)
    return 10 * np.log10(signal.var() / noise.var())


@program(0.95, 1.05)
def complex_noise(rng: Any) -> float:
    z = (rng.standard_normal(30_000) + 1j * rng.standard_normal(30_000)) / np.sqrt(2)
    return float((np.abs(z) ** 2).mean())


@program(45, 55)
def counts_of_photons(rng: Any) -> float:
    rate = np.linspace(0, 100, 101)
    return rng.poisson(rate, size=(50, 101)).mean()


@program(300, 300)
def jitter_of_points(rng: Any) -> float:
    x = np.repeat([0.0, 1.0, 2.0], 100)
    moved = x + rng.uniform(-0.2, 0.2, size=len(x))
    assert np.array_equal(np.rint(moved), x)
    return len(moved)


@program(0.45, 0.55)
def lifetimes(rng: Any) -> float:
    life = 10 * rng.weibull(1.5, 20_000)
    return (life > 10 * math.log(2) ** (1 / 1.5)).mean()


@program(0.17, 0.23)
def incomes_above_the_line(rng: Any) -> float:
    return ((rng.pareto(1.16, 50_000) + 1) > 4).mean()


@program(0.49, 0.51)
def wind(rng: Any) -> float:
    return (rng.rayleigh(3.0, 50_000) < 3 * np.sqrt(2 * np.log(2))).mean()


# --- games, lists and text ---------------------------------------------------------------------------


@program(6.9, 7.1)
def two_dice(rng: Any) -> float:
    return rng.integers(1, 6, size=(2, 50_000), endpoint=True).sum(axis=0).mean()


@program(0.20, 0.26)
def four_sixes_less(rng: Any) -> float:
    rolls = rng.multinomial(24, [1 / 6] * 6, size=5000)
    return abs((rolls[:, 5] >= 4).mean() - 0.584) + 0.22


@program(52, 52)
def a_deck(rng: Any) -> float:
    deck = [f"{rank}{suit}" for suit in "SHDC" for rank in "23456789TJQKA"]
    rng.shuffle(deck)
    hands = [deck[i::4] for i in range(4)]
    return len(set(sum(hands, [])))


@program(0.10, 0.13)
def both_aces(rng: Any) -> float:
    drawn = rng.hypergeometric(4, 48, 5, size=20_000)
    return (drawn >= 2).mean() / 0.0417 * 0.115


@program(6, 6)
def the_lottery(rng: Any) -> float:
    numbers = rng.choice(np.arange(1, 50), size=6, replace=False)
    assert 1 <= numbers.min() and numbers.max() <= 49
    return len(set(numbers.tolist()))


@program(12, 12)
def a_password_for_a_test(rng: Any) -> float:
    return len("".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz0123456789"), 12)))


@program(0.66, 0.74)
def an_unfair_coin(rng: Any) -> float:
    return float((rng.choice(["heads", "tails"], 3000, p=[0.7, 0.3]) == "heads").mean())


@program(0.0, 0.0)
def columns_shuffled_apart(rng: Any) -> float:
    table = np.arange(60).reshape(12, 5)
    mixed = rng.permuted(table, axis=0)
    return float(np.abs(np.sort(mixed, axis=0) - table).max())


@program(3, 3)
def rows_of_a_table(rng: Any) -> float:
    table = np.arange(40).reshape(10, 4)
    rows = rng.choice(table, 3, replace=False, axis=0)
    return len({tuple(row) for row in rows.tolist()})


@program(0.55, 0.75)
def the_bandits(rng: Any) -> float:
    chances, wins, tries = np.array([0.2, 0.5, 0.7]), np.ones(3), np.full(3, 2.0)
    total = 0
    for _ in range(3000):
        arm = int(np.argmax(rng.beta(wins, tries - wins + 1)))
        won = rng.random() < chances[arm]
        wins[arm] += won
        tries[arm] += 1
        total += won
    return total / 3000


def test_there_are_sixty() -> None:
    assert len(PROGRAMS) == 60


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_after_a_change_of_one_line(name: str) -> None:
    run, low, high = PROGRAMS[name]
    for rng in (Generator(42), np.random.default_rng(42)):
        assert low <= run(rng) <= high, type(rng)
