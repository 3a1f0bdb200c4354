// The article's loop: a lane is a pixel of A, pixels of B are uniform.
export void patch_match(uniform const float a[], uniform const float b[], uniform int height, uniform int width,
                        uniform unsigned int16 nnf[], uniform int first_row, uniform int end_row) {
  foreach (y_a = first_row ... end_row, x_a = 0 ... width) {
    float least = 1e6;
    int nearest_x = 0, nearest_y = 0;
    for (uniform int y_b = 0; y_b < height; y_b++) {
      for (uniform int x_b = 0; x_b < width; x_b++) {
        float mse = 0;
        for (uniform int dy = -1; dy <= 1; dy++) {
          for (uniform int dx = -1; dx <= 1; dx++) {
            const int ix_a = max(0, min(width - 1, x_a + dx)), iy_a = max(0, min(height - 1, y_a + dy));
            const uniform int ix_b = max(0, min(width - 1, x_b + dx)), iy_b = max(0, min(height - 1, y_b + dy));
            const int at_a = (ix_a + width * iy_a) * 3;
            const uniform int at_b = (ix_b + width * iy_b) * 3;
            for (uniform int c = 0; c < 3; c++) {
              const float difference = a[at_a + c] - b[at_b + c];
              mse += difference * difference;
            }
          }
        }
        mse = mse / 9;
        if (mse < least) {
          least = mse;
          nearest_x = x_b;
          nearest_y = y_b;
        }
      }
    }
    const int i = y_a * width + x_a;
    nnf[i * 2] = (unsigned int16)nearest_x;
    nnf[i * 2 + 1] = (unsigned int16)nearest_y;
  }
}
