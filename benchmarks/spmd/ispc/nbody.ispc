export void nbody(uniform const float x[], uniform const float y[], uniform const float z[], uniform const float mass[],
                  uniform int count, uniform float ax[], uniform float ay[], uniform float az[], uniform int begin,
                  uniform int end) {
  foreach (i = begin ... end) {
    float fx = 0, fy = 0, fz = 0;
    for (uniform int j = 0; j < count; j++) {
      const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const float squared = dx * dx + dy * dy + dz * dz + 1e-4f;
      const float weight = mass[j] / (squared * sqrt(squared));
      fx += weight * dx;
      fy += weight * dy;
      fz += weight * dz;
    }
    ax[i] = fx;
    ay[i] = fy;
    az[i] = fz;
  }
}
