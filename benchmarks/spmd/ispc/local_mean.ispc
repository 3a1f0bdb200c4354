export void local_mean(uniform const float image[], uniform int height, uniform int width, uniform float mean[],
                       uniform int first_row, uniform int end_row) {
  foreach (y = first_row ... end_row, x = 0 ... width) {
    float sum = 0;
    int count = 0;
    for (uniform int dy = -1; dy <= 1; dy++) {
      for (uniform int dx = -1; dx <= 1; dx++) {
        if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
        sum += image[(y + dy) * width + x + dx];
        count++;
      }
    }
    mean[y * width + x] = sum / count;
  }
}
