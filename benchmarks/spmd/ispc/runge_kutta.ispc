struct State {
  float x, y, z;
};

static inline State slope(State s) {
  State d = {10.0f * (s.y - s.x), s.x * (28.0f - s.z) - s.y, s.x * s.y - 8.0f / 3.0f * s.z};
  return d;
}

static inline State moved(State s, State d, float h) {
  State next = {s.x + h * d.x, s.y + h * d.y, s.z + h * d.z};
  return next;
}

export void runge_kutta(uniform const float x0[], uniform const float y0[], uniform const float z0[], uniform int steps,
                        uniform float h, uniform float x1[], uniform float y1[], uniform float z1[], uniform int begin,
                        uniform int end) {
  foreach (i = begin ... end) {
    State s = {x0[i], y0[i], z0[i]};
    for (uniform int k = 0; k < steps; k++) {
      const State a = slope(s);
      const State b = slope(moved(s, a, 0.5f * h));
      const State c = slope(moved(s, b, 0.5f * h));
      const State d = slope(moved(s, c, h));
      const State sum = {a.x + 2 * b.x + 2 * c.x + d.x, a.y + 2 * b.y + 2 * c.y + d.y, a.z + 2 * b.z + 2 * c.z + d.z};
      s = moved(s, sum, h / 6);
    }
    x1[i] = s.x;
    y1[i] = s.y;
    z1[i] = s.z;
  }
}
