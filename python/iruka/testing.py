"""numpy.testing for iruka arrays."""

import numpy

from ._creation import asnumpy


def assert_allclose(actual, desired, rtol=1e-7, atol=0, err_msg="", verbose=True, **keywords):
    """Raises AssertionError unless |actual - desired| <= atol + rtol * |desired| everywhere."""
    numpy.testing.assert_allclose(
        asnumpy(actual), asnumpy(desired), rtol=rtol, atol=atol, err_msg=err_msg, verbose=verbose, **keywords
    )


def assert_array_equal(x, y, err_msg="", verbose=True, **keywords):
    """Raises AssertionError unless shapes and elements are equal; NaN equals NaN."""
    numpy.testing.assert_array_equal(asnumpy(x), asnumpy(y), err_msg=err_msg, verbose=verbose, **keywords)


def assert_array_almost_equal(x, y, decimal=6, err_msg="", verbose=True):
    """Raises AssertionError unless elements agree to that many decimals."""
    numpy.testing.assert_array_almost_equal(asnumpy(x), asnumpy(y), decimal=decimal, err_msg=err_msg, verbose=verbose)


def assert_array_less(x, y, err_msg="", verbose=True):
    """Raises AssertionError unless x < y everywhere."""
    numpy.testing.assert_array_less(asnumpy(x), asnumpy(y), err_msg=err_msg, verbose=verbose)
