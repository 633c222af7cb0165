import numpy as np
import pytest

from helpers import random_arrays
from nscmdp import CMDP
from nscmdp.cmdp import common_successors, densify


@pytest.fixture
def arrays():
    P, r, g = random_arrays(np.random.default_rng(0), 2, 3, 2, sparsity=0.5)
    return {"P": P, "r": r, "g": g, "rho": 0.5, "mu0": np.array([0.2, 0.0, 0.8])}


def test_a_model_gives_back_the_arrays_it_was_made_from(arrays):
    cmdp = CMDP(**arrays)
    assert (cmdp.H, cmdp.S, cmdp.A, cmdp.rho) == (2, 3, 2, 0.5)
    np.testing.assert_array_equal(cmdp.P, arrays["P"])
    np.testing.assert_allclose(cmdp.r, arrays["r"], rtol=1e-15)
    np.testing.assert_allclose(cmdp.g, arrays["g"], rtol=1e-15)
    np.testing.assert_array_equal(cmdp.mu0, arrays["mu0"])


def test_only_successors_that_can_occur_are_kept(arrays):
    cmdp = CMDP(**arrays)
    assert cmdp.columns == (arrays["P"] > 0).sum(axis=3).max()
    assert cmdp.columns < cmdp.S or (arrays["P"] > 0).all(axis=3).any()


def test_a_reward_paid_with_the_successor_is_averaged_over_successors():
    cmdp = CMDP.sparse(
        successors=np.array([[[[0, 1]], [[1, 0]]]], dtype=np.uint32),
        probability=np.array([[[[0.25, 0.75]], [[1.0, 0.0]]]]),
        reward=np.array([[[[1.0, 0.2]], [[0.5, 9.0]]]]),
        utility=np.array([[[[0.0, 1.0]], [[0.3, 9.0]]]]),
        horizon=4,
        rho=1.0,
        mu0=[1.0, 0.0],
    )
    assert cmdp.r.shape == (4, 2, 1)
    np.testing.assert_allclose(cmdp.r[:, :, 0], [[0.4, 0.5]] * 4)
    np.testing.assert_allclose(cmdp.g[:, :, 0], [[0.75, 0.3]] * 4)
    np.testing.assert_array_equal(cmdp.P[3], [[[0.25, 0.75]], [[0.0, 1.0]]])


def test_columns_of_one_state_add_up():
    successors = np.array([[[[1, 1, 0]], [[0, 1, 1]]]], dtype=np.uint32)
    values = np.array([[[[0.5, 0.25, 0.25]], [[0.1, 0.2, 0.7]]]])
    np.testing.assert_allclose(densify(successors, values), [[[[0.25, 0.75]], [[0.1, 0.9]]]])


def test_common_successors_hold_the_support_of_every_kernel():
    rng = np.random.default_rng(1)
    kernels = [random_arrays(rng, 2, 5, 3, sparsity=0.6)[0] for _ in range(3)]
    successors = common_successors(kernels)
    for kernel in kernels:
        kept = np.take_along_axis(kernel, successors.astype(int), axis=3)
        np.testing.assert_allclose(kept.sum(axis=3), 1.0)
    assert all(len(set(row)) == len(row) for row in successors.reshape(-1, successors.shape[3]))


def spoil(arrays, key, index, value):
    changed = np.array(arrays[key], dtype=float)
    changed[index] = value
    return {**arrays, key: changed}


def test_a_row_that_does_not_sum_to_one_is_named(arrays):
    arrays["P"][1, 2, 0] = [0.5, 0.2, 0.2]
    with pytest.raises(ValueError, match=r"P sums to 0\.9 in row \(h, x, a\) = \(1, 2, 0\)"):
        CMDP(**arrays)


def test_a_negative_probability_is_named(arrays):
    arrays["P"][1, 0, 1] = [-0.5, 1.0, 0.5]
    with pytest.raises(ValueError, match="P "):
        CMDP(**arrays)
    columns = np.zeros((1, 2, 1, 2), dtype=np.uint32)
    columns[..., 1] = 1
    P = np.array([[[[0.5, 0.5]], [[1.5, -0.5]]]])
    with pytest.raises(ValueError, match=r"negative probability in row \(h, x, a\) = \(0, 1, 0\)"):
        CMDP.sparse(columns, P, P, P, 1, 0.0, [1.0, 0.0])


@pytest.mark.parametrize("key", ["r", "g", "mu0"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused_by_name(arrays, key, value):
    with pytest.raises(ValueError, match=f"^{key} "):
        CMDP(**spoil(arrays, key, 0, value))
    with pytest.raises(ValueError, match=r"^rho "):
        CMDP(**{**arrays, "rho": value})


@pytest.mark.parametrize("key", ["r", "g"])
def test_a_table_of_another_shape_is_refused_with_both_shapes(arrays, key):
    message = rf"{key} has shape \(2, 2, 3\), expected \(H, S, A\) = \(2, 3, 2\)"
    with pytest.raises(ValueError, match=message):
        CMDP(**{**arrays, key: arrays[key].transpose(0, 2, 1)})


@pytest.mark.parametrize("shape", [(3, 2, 3), (2, 3, 2, 4)])
def test_a_kernel_that_is_not_h_s_a_s_is_refused_with_its_shape(arrays, shape):
    with pytest.raises(ValueError, match=r"P has shape \({}\)".format(", ".join(map(str, shape)))):
        CMDP(**{**arrays, "P": np.full(shape, 1 / shape[-1])})


@pytest.mark.parametrize("mu0", [[0.5, 0.5], [0.5, 0.2, 0.2], [1.5, -0.5, 0.0]])
def test_a_start_that_is_no_distribution_over_states_is_refused(arrays, mu0):
    with pytest.raises(ValueError, match="mu0"):
        CMDP(**{**arrays, "mu0": mu0})


def test_layers_must_be_one_or_one_a_step():
    columns = np.zeros((2, 1, 1, 1), dtype=np.uint32)
    ones = np.ones((2, 1, 1, 1))
    with pytest.raises(ValueError, match="2 layers for a horizon of 3"):
        CMDP.sparse(columns, ones, ones, ones, 3, 0.0, [1.0])
