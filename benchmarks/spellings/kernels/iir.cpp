// clang-format off
// A biquad filter over time (direct form II transposed): one element is one channel, steps are rows.

//: inputs raw float32 x, int32 steps, int32 channels, float32 b0, float32 b1, float32 b2, float32 a1, float32 a2
//: outputs raw float32 y
//: size channels

//: way t * channels + i
//: body
float z1 = 0, z2 = 0;
for (int t = 0; t < steps; t++) {
    float in = x[t * channels + i], out = b0 * in + z1;
    z1 = b1 * in - a1 * out + z2;
    z2 = b2 * in - a2 * out;
    y[t * channels + i] = out;
}

//: way {t, i} and shape()
//: inputs raw float32 x, float32 b0, float32 b1, float32 b2, float32 a1, float32 a2
//: body
float z1 = 0, z2 = 0;
for (int t = 0; t < x.shape()[0]; t++) {
    float in = x[{t, i}];
    float out = b0 * in + z1;
    z1 = b1 * in - a1 * out + z2;
    z2 = b2 * in - a2 * out;
    y[{t, i}] = out;
}

//: way struct with a method, pointers that advance
//: preamble
struct Biquad {
    float b0, b1, b2, a1, a2, z1 = 0, z2 = 0;
    __device__ float next(float in) {
        float out = b0 * in + z1;
        z1 = b1 * in - a1 * out + z2;
        z2 = b2 * in - a2 * out;
        return out;
    }
};
//: body
Biquad filter{b0, b1, b2, a1, a2};
const float *from = &x[i];
float *to = &y[i];
for (int t = 0; t < steps; ++t, from += channels, to += channels) *to = filter.next(*from);

//: way coefficients and state in arrays
//: inputs raw float32 x, raw float32 coefficients, int32 steps, int32 channels
//: body
float z[2] = {0, 0};
for (long long t = 0; t < steps; t++) {
    float in = x[t * channels + i];
    float out = coefficients[0] * in + z[0];
    for (int k = 0; k < 2; k++)
        z[k] = coefficients[k + 1] * in - coefficients[k + 3] * out + (k == 0 ? z[1] : 0);
    y[t * channels + i] = out;
}

//: way earlier results read back from y
//: body
for (int t = 0; t < steps; t++) {
    float sum = b0 * x[t * channels + i];
    if (t > 0) sum += b1 * x[(t - 1) * channels + i] - a1 * y[(t - 1) * channels + i];
    if (t > 1) sum += b2 * x[(t - 2) * channels + i] - a2 * y[(t - 2) * channels + i];
    y[t * channels + i] = sum;
}

//: way direct form I, constants in the text
//: note computes in double
//: inputs raw float32 x, int32 steps, int32 channels
//: body
float x1 = 0, x2 = 0, y1 = 0, y2 = 0;
int t = 0;
while (t < steps) {
    float in = x[t * channels + i];
    float out = 0.2 * in + 0.4 * x1 + 0.2 * x2 + 0.5 * y1 - 0.3 * y2;
    x2 = x1;
    x1 = in;
    y2 = y1;
    y1 = out;
    y[t * channels + i] = out;
    t++;
}
