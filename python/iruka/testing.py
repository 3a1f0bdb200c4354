"""numpy.testing for iruka arrays."""

import numpy

from ._numpy.conversion import asnumpy
from ._public_names import dir_of as _dir_of


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


def assert_array_almost_equal_nulp(x, y, nulp=1):
    """Raises AssertionError where elements differ by more than `nulp` units in the last place."""
    numpy.testing.assert_array_almost_equal_nulp(asnumpy(x), asnumpy(y), nulp)


def assert_array_max_ulp(a, b, maxulp=1, dtype=None):
    """The differences in units in the last place. Raises AssertionError where one is above `maxulp`."""
    return numpy.testing.assert_array_max_ulp(asnumpy(a), asnumpy(b), maxulp, dtype)


def assert_array_list_equal(xlist, ylist, err_msg="", verbose=True):
    """Raises AssertionError unless two lists of arrays are as long and equal pair by pair."""
    if len(xlist) != len(ylist):
        raise AssertionError(f"lists of {len(xlist)} and {len(ylist)} arrays")
    for x, y in zip(xlist, ylist):
        assert_array_equal(x, y, err_msg, verbose)


__dir__ = _dir_of(globals())
