export void mandelbrot(uniform int width, uniform int limit, uniform float step_x, uniform float step_y,
                       uniform int counts[], uniform int first_row, uniform int end_row) {
  foreach (y = first_row ... end_row, x = 0 ... width) {
    const float cr = x * step_x - 2.1f, ci = y * step_y - 1.2f;
    float zr = cr, zi = ci;
    int k = 0;
    for (; k < limit; k++) {
      if (zr * zr + zi * zi > 4) break;
      const float next = zr * zr - zi * zi + cr;
      zi = 2 * zr * zi + ci;
      zr = next;
    }
    counts[y * width + x] = k;
  }
}
