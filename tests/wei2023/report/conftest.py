"""Every figure that a test draws is painted."""

import warnings

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def rendered():
    """What a test has drawn can also be painted, without a complaint."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
    plt.close("all")
