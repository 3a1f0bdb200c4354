export void perceptron(uniform const float x[], uniform const float w1[], uniform const float b1[],
                       uniform const float w2[], uniform const float b2[], uniform float y[], uniform int begin,
                       uniform int end) {
  foreach (i = begin ... end) {
    float input[8], hidden[32];
    for (uniform int c = 0; c < 8; c++) input[c] = x[i * 8 + c];
    for (uniform int r = 0; r < 32; r++) {
      float sum = b1[r];
      for (uniform int c = 0; c < 8; c++) sum += w1[r * 8 + c] * input[c];
      hidden[r] = max(sum, 0.0f);
    }
    for (uniform int o = 0; o < 4; o++) {
      float sum = b2[o];
      for (uniform int r = 0; r < 32; r++) sum += w2[o * 32 + r] * hidden[r];
      y[i * 4 + o] = sum;
    }
  }
}
