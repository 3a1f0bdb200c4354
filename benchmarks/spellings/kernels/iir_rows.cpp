// clang-format off
// The same filter where a channel is a row: the steps of a channel are neighbours in memory.

//: inputs raw float32 x, int32 steps, int32 channels, float32 b0, float32 b1, float32 b2, float32 a1, float32 a2
//: outputs raw float32 y
//: size channels

//: way i * steps + t
//: body
float z1 = 0, z2 = 0;
for (int t = 0; t < steps; t++) {
    float in = x[i * steps + t], out = b0 * in + z1;
    z1 = b1 * in - a1 * out + z2;
    z2 = b2 * in - a2 * out;
    y[i * steps + t] = out;
}

//: way {i, t} and shape()
//: inputs raw float32 x, float32 b0, float32 b1, float32 b2, float32 a1, float32 a2
//: body
float z1 = 0, z2 = 0;
for (int t = 0; t < x.shape()[1]; t++) {
    float in = x[{i, t}];
    float out = b0 * in + z1;
    z1 = b1 * in - a1 * out + z2;
    z2 = b2 * in - a2 * out;
    y[{i, t}] = out;
}

//: way pointers to the row
//: body
const float *from = &x[i * steps], *end = from + steps;
float *to = &y[i * steps], z1 = 0, z2 = 0;
while (from != end) {
    float in = *from++, out = b0 * in + z1;
    z1 = b1 * in - a1 * out + z2;
    z2 = b2 * in - a2 * out;
    *to++ = out;
}

//: way transposed views
//: inputs raw float32 xt, float32 b0, float32 b1, float32 b2, float32 a1, float32 a2
//: outputs raw float32 yt
//: body
float z1 = 0, z2 = 0;
for (int t = 0; t < xt.shape()[0]; t++) {
    float in = xt[{t, i}], out = b0 * in + z1;
    z1 = b1 * in - a1 * out + z2;
    z2 = b2 * in - a2 * out;
    yt[{t, i}] = out;
}

//: way four steps at a time
//: body
float z1 = 0, z2 = 0;
for (int t = 0; t < steps; t += 4) {
    float in[4];
    for (int k = 0; k < 4; k++) in[k] = t + k < steps ? x[i * steps + t + k] : 0;
    for (int k = 0; k < 4 && t + k < steps; k++) {
        float out = b0 * in[k] + z1;
        z1 = b1 * in[k] - a1 * out + z2;
        z2 = b2 * in[k] - a2 * out;
        y[i * steps + t + k] = out;
    }
}

//: way plain first elements, long long
//: note computes in double
//: inputs raw float32 x, int64 steps, float64 b0, float64 b1, float64 b2, float64 a1, float64 a2
//: body
double z1 = 0, z2 = 0;
for (long long t = 0; t < steps; ++t) {
    double in = x[i * steps + t], out = b0 * in + z1;
    z1 = b1 * in - a1 * out + z2;
    z2 = b2 * in - a2 * out;
    y[i * steps + t] = (float)out;
}
