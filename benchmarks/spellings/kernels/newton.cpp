// clang-format off
// Newton's method for z^3 = 1 from each point: the number of the root that it comes to, 0 to 2, and the steps.

//: inputs float32 re, float32 im, int32 most
//: outputs int32 root, int32 steps

//: way real and imaginary parts
//: body
float x = re, y = im;
int k = 0;
for (; k < most; k++) {
    float fx = x * x * x - 3 * x * y * y - 1, fy = 3 * x * x * y - y * y * y;
    if (fx * fx + fy * fy < 1e-6f) break;
    float gx = 3 * (x * x - y * y), gy = 6 * x * y, g = gx * gx + gy * gy;
    x -= (fx * gx + fy * gy) / g;
    y -= (fy * gx - fx * gy) / g;
}
steps = k;
root = x > 0 ? 0 : y > 0 ? 1 : 2;

//: way while and a flag
//: body
float x = re, y = im;
int k = 0;
bool is_done = false;
while (!is_done && k < most) {
    float x2 = x * x, y2 = y * y;
    float fx = x2 * x - 3 * x * y2 - 1, fy = 3 * x2 * y - y2 * y;
    is_done = fx * fx + fy * fy < 1e-6f;
    if (!is_done) {
        float gx = 3 * (x2 - y2), gy = 6 * x * y, scale = 1 / (gx * gx + gy * gy);
        x = x - (fx * gx + fy * gy) * scale;
        y = y - (fy * gx - fx * gy) * scale;
        k = k + 1;
    }
}
steps = k;
if (x > 0) root = 0;
else if (y > 0) root = 1;
else root = 2;

//: way complex<float>
//: body
complex<float> z(re, im), one(1, 0), three(3, 0);
int k = 0;
for (; k < most; k++) {
    complex<float> f = z * z * z - one;
    if (f.real() * f.real() + f.imag() * f.imag() < 1e-6f) break;
    z = z - f / (three * z * z);
}
steps = k;
root = z.real() > 0 ? 0 : z.imag() > 0 ? 1 : 2;

//: way helper functions with pointers
//: preamble
__device__ void multiply(float a, float b, float c, float d, float *x, float *y) {
    *x = a * c - b * d;
    *y = a * d + b * c;
}
__device__ bool newton_step(float *x, float *y) {
    float sx, sy, fx, fy;
    multiply(*x, *y, *x, *y, &sx, &sy);
    multiply(sx, sy, *x, *y, &fx, &fy);
    fx -= 1.0f;
    if (fx * fx + fy * fy < 1e-6f) return true;
    float qx, qy;
    multiply(fx, fy, 3.0f * sx, -3.0f * sy, &qx, &qy);
    float norm = 9.0f * (sx * sx + sy * sy);
    *x -= qx / norm;
    *y -= qy / norm;
    return false;
}
//: body
float x = re, y = im;
int k = 0;
while (k < most && !newton_step(&x, &y)) ++k;
steps = k;
root = x > 0 ? 0 : (y > 0 ? 1 : 2);

//: way double constants and pow
//: note computes in double
//: body
float x = re, y = im;
int k = 0;
for (k = 0; k < most; k++) {
    float fx = pow(x, 3) - 3.0 * x * pow(y, 2) - 1.0, fy = 3.0 * pow(x, 2) * y - pow(y, 3);
    if (pow(fx, 2) + pow(fy, 2) < 1e-6) break;
    float gx = 3.0 * (pow(x, 2) - pow(y, 2)), gy = 6.0 * x * y, g = pow(gx, 2) + pow(gy, 2);
    x -= (fx * gx + fy * gy) / g;
    y -= (fy * gx - fx * gy) / g;
}
steps = k;
root = x > 0.0 ? 0 : y > 0.0 ? 1 : 2;

//: way z[2] in raw arrays
//: inputs raw float32 re, raw float32 im, int32 most
//: outputs raw int32 root, raw int32 steps
//: body
float z[2] = {re[i], im[i]};
long long k = 0;
for (; k < most; ++k) {
    float s[2] = {z[0] * z[0] - z[1] * z[1], 2 * z[0] * z[1]};
    float f[2] = {s[0] * z[0] - s[1] * z[1] - 1, s[0] * z[1] + s[1] * z[0]};
    if (f[0] * f[0] + f[1] * f[1] < 1e-6f) break;
    float g = 3 * (s[0] * s[0] + s[1] * s[1]);
    z[0] -= (f[0] * s[0] + f[1] * s[1]) / g;
    z[1] -= (f[1] * s[0] - f[0] * s[1]) / g;
}
steps[i] = k;
root[i] = z[0] > 0 ? 0 : z[1] > 0 ? 1 : 2;
