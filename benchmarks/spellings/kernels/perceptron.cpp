// clang-format off
// A perceptron with 8 inputs, 32 hidden numbers (ReLU) and 4 outputs for each row of x.

//: inputs raw float32 x, raw float32 w1, raw float32 b1, raw float32 w2, raw float32 b2
//: outputs raw float32 y
//: size count

//: way hidden numbers in a local array
//: body
float hidden[32];
for (int r = 0; r < 32; r++) {
    float sum = b1[r];
    for (int c = 0; c < 8; c++) sum += w1[r * 8 + c] * x[i * 8 + c];
    hidden[r] = sum > 0 ? sum : 0;
}
for (int r = 0; r < 4; r++) {
    float sum = b2[r];
    for (int c = 0; c < 32; c++) sum += w2[r * 32 + c] * hidden[c];
    y[i * 4 + r] = sum;
}

//: way widths as arguments
//: inputs raw float32 x, raw float32 w1, raw float32 b1, raw float32 w2, raw float32 b2, int32 inputs, int32 hiddens, int32 outputs
//: body
float hidden[32];
for (int r = 0; r < hiddens; r++) {
    float sum = b1[r];
    for (int c = 0; c < inputs; c++) sum += w1[r * inputs + c] * x[i * inputs + c];
    hidden[r] = max(sum, 0.0f);
}
for (int r = 0; r < outputs; r++) {
    float sum = b2[r];
    for (int c = 0; c < hiddens; c++) sum += w2[r * hiddens + c] * hidden[c];
    y[i * outputs + r] = sum;
}

//: way w[{r, c}]
//: body
float hidden[32];
for (int r = 0; r < 32; r++) {
    float sum = b1[r];
    for (int c = 0; c < 8; c++) sum += w1[{r, c}] * x[{i, c}];
    if (sum < 0) sum = 0;
    hidden[r] = sum;
}
for (int r = 0; r < 4; r++) {
    float sum = b2[r];
    for (int c = 0; c < 32; c++) sum += w2[{r, c}] * hidden[c];
    y[{i, r}] = sum;
}

//: way template for a layer
//: preamble
template <int rows, int columns>
__device__ void layer(const float *w, const float *b, const float *in, float *out, bool relu) {
    for (int r = 0; r < rows; ++r) {
        out[r] = b[r];
        for (int c = 0; c < columns; ++c) out[r] += w[r * columns + c] * in[c];
        if (relu) out[r] = fmaxf(out[r], 0.f);
    }
}
//: body
float in[8], hidden[32], out[4];
for (int c = 0; c < 8; ++c) in[c] = x[i * 8 + c];
layer<32, 8>(&w1[0], &b1[0], in, hidden, true);
layer<4, 32>(&w2[0], &b2[0], hidden, out, false);
for (int r = 0; r < 4; ++r) y[i * 4 + r] = out[r];

//: way outputs summed while hidden numbers come
//: body
float s0 = b2[0], s1 = b2[1], s2 = b2[2], s3 = b2[3];
for (int r = 0; r < 32; r++) {
    float sum = b1[r];
    for (int c = 0; c < 8; c++) sum += w1[r * 8 + c] * x[i * 8 + c];
    sum = max(sum, 0.0f);
    s0 += w2[r] * sum;
    s1 += w2[32 + r] * sum;
    s2 += w2[64 + r] * sum;
    s3 += w2[96 + r] * sum;
}
y[i * 4] = s0;
y[i * 4 + 1] = s1;
y[i * 4 + 2] = s2;
y[i * 4 + 3] = s3;

//: way weights transposed, loops exchanged
//: inputs raw float32 x, raw float32 w1t, raw float32 b1, raw float32 w2t, raw float32 b2
//: body
float hidden[32], out[4];
for (int r = 0; r < 32; r++) hidden[r] = b1[r];
for (int c = 0; c < 8; c++) {
    float value = x[i * 8 + c];
    for (int r = 0; r < 32; r++) hidden[r] += value * w1t[c * 32 + r];
}
for (int r = 0; r < 4; r++) out[r] = b2[r];
for (int c = 0; c < 32; c++) {
    if (hidden[c] <= 0) continue;
    for (int r = 0; r < 4; r++) out[r] += hidden[c] * w2t[c * 4 + r];
}
for (int r = 0; r < 4; r++) y[i * 4 + r] = out[r];

//: way plain strided columns
//: inputs float32 x0, float32 x1, float32 x2, float32 x3, float32 x4, float32 x5, float32 x6, float32 x7, raw float32 w1, raw float32 b1, raw float32 w2, raw float32 b2
//: outputs float32 y0, float32 y1, float32 y2, float32 y3
//: body
float in[8] = {x0, x1, x2, x3, x4, x5, x6, x7};
float out[4] = {b2[0], b2[1], b2[2], b2[3]};
for (int r = 0; r < 32; r++) {
    float sum = b1[r];
    for (int c = 0; c < 8; c++) sum += w1[r * 8 + c] * in[c];
    if (sum > 0) for (int k = 0; k < 4; k++) out[k] += w2[k * 32 + r] * sum;
}
y0 = out[0], y1 = out[1], y2 = out[2], y3 = out[3];

//: way size_t, shapes and a pointer to the row
//: body
const float *row = &x[i * x.shape()[1]];
float hidden[32];
for (size_t r = 0; r < w1.shape()[0]; ++r) {
    float sum = b1[r];
    for (size_t c = 0; c < w1.shape()[1]; ++c) sum += w1[r * w1.shape()[1] + c] * row[c];
    hidden[r] = sum < 0.0 ? 0.0 : sum;
}
for (size_t r = 0; r < w2.shape()[0]; ++r) {
    float sum = b2[r];
    for (size_t c = 0; c < w2.shape()[1]; ++c) sum += w2[r * w2.shape()[1] + c] * hidden[c];
    y[i * w2.shape()[0] + r] = sum;
}
