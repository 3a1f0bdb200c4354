"""The part of numpy.lib that Iruka has: views by strides."""

from . import stride_tricks

__all__ = ["stride_tricks"]
