// Rows of the elementwise and reduction tables that functions of this library are made of, beside those in iruka/ops.h.
#pragma once

#include "iruka/ops.h"

namespace iruka::ops {

inline const ElementwiseFunction arccos{"arccos"}, bitwise_and{"bitwise_and"}, bitwise_or{"bitwise_or"}, clip{"clip"},
    conjugate{"conjugate"}, floor{"floor"}, floor_divide{"floor_divide"}, greater_equal{"greater_equal"}, i0{"i0"},
    imag{"imag"}, isclose{"isclose"}, isfinite{"isfinite"}, isnan{"isnan"}, less_equal{"less_equal"}, log2{"log2"},
    log10{"log10"}, logical_and{"logical_and"}, logical_not{"logical_not"}, not_equal{"not_equal"}, real{"real"},
    remainder{"remainder"}, rint{"rint"}, sign{"sign"};
inline const ReductionFunction nansum{"nansum"};

/// Complex numbers conjugated, others as they are.
inline Array conjugated(const Array& x) { return is_complex(x.dtype()) ? conjugate(x) : x; }

}  // namespace iruka::ops
