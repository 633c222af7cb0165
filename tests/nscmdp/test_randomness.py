import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nscmdp.randomness import checkpoints, format_seeds, parse_seeds, stratum_lengths, stream

lengths = st.tuples(st.integers(1, 300), st.integers(1, 60))


def test_the_same_key_gives_the_same_bits():
    first, again = (stream("environment", "grid_world", 0, 3).random(1000) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_another_key_gives_a_stream_of_its_own():
    others = [("learner", "grid_world", 0, 3), ("environment", "random_tabular", 0, 3)]
    others += [("environment", "grid_world", *rest) for rest in ((1, 3), (0, 4), (3, 0), (0,))]
    ours = stream("environment", "grid_world", 0, 3).random(2000)
    for other in others:
        assert abs(np.corrcoef(ours, stream(*other).random(2000))[0, 1]) < 0.1


def test_drawing_in_batches_gives_the_same_numbers_as_drawing_at_once():
    whole, parts = stream("batches").random((100, 7)), stream("batches")
    np.testing.assert_array_equal(np.vstack([parts.random((n, 7)) for n in (1, 49, 30, 20)]), whole)


@given(lengths, st.integers(0, 1000))
def test_each_stratum_has_one_checkpoint(sizes, seed):
    episodes, every = sizes
    asked = checkpoints(episodes, every, seed)
    np.testing.assert_array_equal((asked - 1) // every, np.arange(-(-episodes // every)))
    assert asked.max() <= episodes


@given(lengths)
def test_the_weights_of_checkpoints_sum_to_the_episodes(sizes):
    episodes, every = sizes
    assert stratum_lengths(episodes, every).sum() == episodes
    assert (stratum_lengths(episodes, every)[:-1] == every).all()


def test_evaluating_every_episode_asks_for_each_once():
    np.testing.assert_array_equal(checkpoints(50, 1, 7), np.arange(1, 51))
    np.testing.assert_array_equal(stratum_lengths(50, 1), np.ones(50))


def test_checkpoints_are_uniform_in_their_stratum_the_shorter_last_one_included():
    asked = np.array([checkpoints(23, 5, seed) for seed in range(3000)])
    for stratum, length in enumerate(stratum_lengths(23, 5)):
        counts = np.bincount(asked[:, stratum] - 1 - 5 * stratum, minlength=length)
        assert stats.chisquare(counts).pvalue > 1e-4


def test_weighted_sums_over_checkpoints_are_unbiased():
    curve = np.random.default_rng(0).random(23) ** 3
    weight, seeds = stratum_lengths(23, 5), range(3000)
    sums = [(curve[checkpoints(23, 5, seed) - 1] * weight).sum() for seed in seeds]
    assert abs(np.mean(sums) - curve.sum()) < 4 * stats.sem(sums)


@pytest.mark.parametrize(
    ("seeds", "text"),
    [([3], "3-3"), ([0, 1, 2], "0-2"), ([0, 2, 7], "0,2,7"), ([0, 10**12], "0,1000000000000")],
)
def test_seeds_are_named_in_a_file_and_read_back(seeds, text):
    """However far apart they are: nothing is made for what lies between."""
    assert format_seeds(seeds) == text
    assert parse_seeds(text) == seeds
