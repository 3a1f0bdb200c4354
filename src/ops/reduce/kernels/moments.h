// Means count from a pivot, one of the elements: so they are small, and exact, whatever all elements have in common.
struct Moments {
  A pivot, mean;
  R squares;
  double n;
};
static inline Moments start_moments() { return {A(0), A(0), R(0), 0}; }
static inline Moments combine(Moments a, Moments b) {
  if (b.n == 0) return a;
  if (a.n == 0) return b;
  const double n = a.n + b.n, share = b.n / n;
  const A distance = (b.pivot - a.pivot) + (b.mean - a.mean);
  return {a.pivot, a.mean + distance * R(share), a.squares + b.squares + square_of(distance) * R(a.n * share), n};
}
