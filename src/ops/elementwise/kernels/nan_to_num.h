#pragma once

namespace iruka::op {

template <class F> inline F nan_to_num(F x, F nan, F above, F below) {
  return x != x ? nan : x - x == 0 ? x : x > 0 ? above : below;
}
template <class F> inline complex<F> nan_to_num(complex<F> x, F nan, F above, F below) {
  return complex<F>(nan_to_num(x.real(), nan, above, below), nan_to_num(x.imag(), nan, above, below));
}

}  // namespace iruka::op
