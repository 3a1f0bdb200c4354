// clang-format off
// How many steps of z = z * z + c stay within |z| <= 2, at most `most`.

//: inputs float32 re, float32 im, int32 most
//: outputs int32 steps

//: way while with squares kept
//: body
float x = 0, y = 0, xx = 0, yy = 0;
int k = 0;
while (k < most && xx + yy <= 4) {
    y = 2 * x * y + im;
    x = xx - yy + re;
    xx = x * x;
    yy = y * y;
    k++;
}
steps = k;

//: way for with break
//: body
float x = 0, y = 0;
int k;
for (k = 0; k < most; k++) {
    if (x * x + y * y > 4.0f) break;
    float t = x * x - y * y + re;
    y = 2.0f * x * y + im;
    x = t;
}
steps = k;

//: way helper with early return
//: preamble
__device__ int escape_time(float re, float im, int most) {
    float x = 0.f, y = 0.f;
    for (int k = 0; k < most; ++k) {
        if (x * x + y * y > 4.f) return k;
        float t = x * x - y * y + re;
        y = 2.f * x * y + im;
        x = t;
    }
    return most;
}
//: body
steps = escape_time(re, im, most);

//: way complex<float>
//: body
complex<float> z(0, 0), c(re, im);
int k = 0;
while (k < most && z.real() * z.real() + z.imag() * z.imag() <= 4) {
    z = z * z + c;
    k++;
}
steps = k;

//: way double constants and pow(x, 2)
//: note products in double
//: body
float x = 0.0, y = 0.0;
int k = 0;
while (pow(x, 2) + pow(y, 2) <= 4.0 && k < most) {
    float t = pow(x, 2) - pow(y, 2) + re;
    y = 2.0 * x * y + im;
    x = t;
    k += 1;
}
steps = k;

//: way most in the text, counted without leaving
//: note 200 steps for each element
//: inputs float32 re, float32 im
//: body
float x = 0, y = 0;
int count = 0;
bool inside = true;
for (int k = 0; k < 200; k++) {
    inside = inside && x * x + y * y <= 4;
    count += inside ? 1 : 0;
    float t = x * x - y * y + re;
    y = inside ? 2 * x * y + im : y;
    x = inside ? t : x;
}
steps = count;

//: way raw arrays and long long
//: inputs raw float32 re, raw float32 im, int64 most
//: outputs raw int32 steps
//: body
float cr = re[i], ci = im[i], x = 0, y = 0;
long long k = 0;
do {
    if (x * x + y * y > 4) break;
    float t = x * x - y * y + cr;
    y = 2 * x * y + ci;
    x = t;
} while (++k < most);
steps[i] = k;
