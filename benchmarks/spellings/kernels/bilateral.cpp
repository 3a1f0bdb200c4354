// clang-format off
// A bilateral filter of 5x5 pixels: Gaussian weights of distance and of difference; the edge is repeated.

//: inputs raw float32 picture, int32 width, int32 height, float32 sigma_space, float32 sigma_range
//: outputs float32 result

//: way expf of one sum
//: body
int x = i % width, y = i / width;
float centre = picture[i], sum = 0, weights = 0;
float by_space = -0.5f / (sigma_space * sigma_space), by_range = -0.5f / (sigma_range * sigma_range);
for (int dy = -2; dy <= 2; dy++) {
    for (int dx = -2; dx <= 2; dx++) {
        float value = picture[max(0, min(height - 1, y + dy)) * width + max(0, min(width - 1, x + dx))];
        float difference = value - centre;
        float weight = expf((dx * dx + dy * dy) * by_space + difference * difference * by_range);
        sum += weight * value;
        weights += weight;
    }
}
result = sum / weights;

//: way radius as an argument, two exp
//: note two exponentials
//: inputs raw float32 picture, int32 width, int32 height, int32 radius, float32 sigma_space, float32 sigma_range
//: body
int x = i % width, y = i / width;
float centre = picture[i], sum = 0, weights = 0;
for (int dy = -radius; dy <= radius; dy++) {
    for (int dx = -radius; dx <= radius; dx++) {
        int u = min(max(x + dx, 0), width - 1), v = min(max(y + dy, 0), height - 1);
        float value = picture[v * width + u];
        float ws = exp(-(float)(dx * dx + dy * dy) / (2 * sigma_space * sigma_space));
        float wr = exp(-(value - centre) * (value - centre) / (2 * sigma_range * sigma_range));
        sum += ws * wr * value;
        weights += ws * wr;
    }
}
result = sum / weights;

//: way table of distances
//: inputs raw float32 picture, raw float32 space, int32 width, int32 height, float32 sigma_range
//: body
int x = i % width, y = i / width;
float centre = picture[{y, x}], sum = 0, weights = 0;
for (int k = 0; k < 25; k++) {
    int u = min(max(x + k % 5 - 2, 0), width - 1), v = min(max(y + k / 5 - 2, 0), height - 1);
    float value = picture[{v, u}], d = (value - centre) / sigma_range;
    float weight = space[k] * expf(-d * d / 2);
    sum += weight * value;
    weights += weight;
}
result = sum / weights;

//: way helper functions and shape()
//: note two exponentials and a root
//: inputs raw float32 picture, float32 sigma_space, float32 sigma_range
//: preamble
__device__ float gaussian(float x, float sigma) { return expf(-(x * x) / (2.0f * sigma * sigma)); }
__device__ float distance(int x, int y) { return sqrtf((float)(x * x + y * y)); }
__device__ int clamped(int k, int size) { return k < 0 ? 0 : k >= size ? size - 1 : k; }
//: body
int height = picture.shape()[0], width = picture.shape()[1];
int x = i % width, y = i / width;
float sum = 0, weights = 0;
for (int dy = -2; dy <= 2; dy++)
    for (int dx = -2; dx <= 2; dx++) {
        float value = picture[{clamped(y + dy, height), clamped(x + dx, width)}];
        float weight = gaussian(distance(dx, dy), sigma_space) * gaussian(value - picture[{y, x}], sigma_range);
        sum += weight * value;
        weights += weight;
    }
result = sum / weights;

//: way double constants and pow
//: note computes in double, two exponentials
//: body
int x = i % width, y = i / width;
float sum = 0.0, weights = 0.0;
for (int dy = -2; dy <= 2; dy++) {
    for (int dx = -2; dx <= 2; dx++) {
        int u = max(0, min(width - 1, x + dx)), v = max(0, min(height - 1, y + dy));
        float value = picture[v * width + u];
        float weight = exp(-0.5 * (pow(dx, 2) + pow(dy, 2)) / pow(sigma_space, 2))
                     * exp(-0.5 * pow(value - picture[i], 2) / pow(sigma_range, 2));
        sum += weight * value;
        weights += weight;
    }
}
result = sum / weights;

//: way constants in the text, rows behind pointers
//: inputs raw float32 picture, int32 width, int32 height
//: body
const float two_space = 2 * 2.0f * 2.0f, two_range = 2 * 30.0f * 30.0f;
int x = i % width, y = i / width;
float centre = picture[i], sum = 0, weights = 0;
for (int dy = -2; dy <= 2; ++dy) {
    const float *row = &picture[min(max(y + dy, 0), height - 1) * width];
    for (int dx = -2; dx <= 2; ++dx) {
        float value = row[min(max(x + dx, 0), width - 1)];
        float weight = expf(-(dx * dx + dy * dy) / two_space - (value - centre) * (value - centre) / two_range);
        sum += weight * value;
        weights += weight;
    }
}
result = sum / weights;
