"""Packed bools, eight per byte."""

from __future__ import annotations

import operator

from .. import _core
from .._core import ElementwiseKernel, ndarray
from ..errors import TypeError, ValueError
from .conversion import _array, ascontiguousarray
from .shapes import _axes

# A 64-bit word has eight elements: each becomes 0 or 1 in place, and a product gathers them in the highest byte.
_pack = {
    order: ElementwiseKernel(
        "uint64 word",
        "uint8 packed",
        f"""
const unsigned long long low = 0x7f7f7f7f7f7f7f7fULL;
const unsigned long long bits = ((word | ((word & low) + low)) >> 7) & 0x0101010101010101ULL;
packed = (unsigned char)((bits * {product}ULL) >> 56);
""",
        "packbits",
    )
    for order, product in (("big", "0x8040201008040201"), ("little", "0x0102040810204080"))
}
_unpack = {
    order: ElementwiseKernel(
        "uint8 packed",
        "uint64 word",
        f"word = ((((packed * 0x0101010101010101ULL) & {mask}ULL)"
        " + 0x7f7f7f7f7f7f7f7fULL) >> 7) & 0x0101010101010101ULL",
        "unpackbits",
    )
    for order, mask in (("big", "0x0102040810204080"), ("little", "0x8040201008040201"))
}


def _checked(function: str, bitorder: str) -> str:
    if bitorder not in ("big", "little"):
        raise ValueError(f"{function}: bitorder must be 'big' or 'little', not {bitorder!r}")
    return bitorder


def packbits(a, /, axis: int | None = None, bitorder: str = "big") -> ndarray:
    """Bools or integers (nonzero is 1) as the bits of uint8, eight neighbours along an axis each; 0 fills the last
    byte.

    bitorder 'big' puts the first element in the highest bit. Raises TypeError for other dtypes.
    """
    a, bitorder = _array(a), _checked("packbits", bitorder)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    if axis is None:
        a, axis = a.ravel(), 0
    a = a.reshape(1) if a.ndim == 0 else a
    axis = _axes("packbits", axis, a.ndim)[0]
    turned = a.swapaxes(axis, -1)
    length = turned.shape[-1]
    columns = -(-length // 8)
    with a.device:
        if turned.dtype.itemsize > 1:
            turned = turned != 0
        if length % 8 or not turned.flags.c_contiguous or turned._address % 8:
            whole = _core.zeros(turned.shape[:-1] + (columns * 8,), "uint8")
            whole[..., :length] = turned.view("uint8")
            turned = whole
        if not turned.size:
            return ascontiguousarray(_core.empty(turned.shape[:-1] + (columns,), "uint8").swapaxes(axis, -1))
        return ascontiguousarray(_pack[bitorder](turned.view("uint64")).swapaxes(axis, -1))


def unpackbits(a, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> ndarray:
    """The bits of uint8 as uint8 of 0 and 1, eight for each along an axis.

    count: how many to give along the axis; negative: as many less than there are. Raises TypeError for other dtypes.
    """
    a, bitorder = _array(a), _checked("unpackbits", bitorder)
    if a.dtype != "uint8":
        raise TypeError("Expected an input array of unsigned byte data type")
    if axis is None:
        a, axis = a.ravel(), 0
    a = a.reshape(1) if a.ndim == 0 else a
    axis = _axes("unpackbits", axis, a.ndim)[0]
    turned = a.swapaxes(axis, -1)
    with a.device:
        if turned.size:
            bits = _unpack[bitorder](turned).view("uint8")
        else:
            bits = _core.empty(turned.shape[:-1] + (turned.shape[-1] * 8,), "uint8")
        if count is not None:
            there = bits.shape[-1]
            count = operator.index(count)
            if count < 0:
                if -count > there:
                    raise ValueError(
                        f"-count must be less than or equal to the number of bits ({there}), but is {-count}"
                    )
                count += there
            if count <= there:
                bits = bits[..., :count]
            else:
                longer = _core.zeros(bits.shape[:-1] + (count,), "uint8")
                longer[..., :there] = bits
                bits = longer
    return ascontiguousarray(bits.swapaxes(axis, -1))
