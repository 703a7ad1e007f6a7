"""Every kind of data that the library is compiled for, and numbers that are the same in every run."""
import numpy as np
import pytest


@pytest.fixture(params=[(2, np.float32), (3, np.float32), (2, np.float64), (3, np.float64)], ids=["2f", "3f", "2d", "3d"])
def kind(request):
    """(dimension, dtype)."""
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(20261118)
