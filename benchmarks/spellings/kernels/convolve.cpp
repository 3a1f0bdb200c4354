// clang-format off
// A 3x3 convolution (correlation), pixels outside of the picture being the nearest inside.

//: inputs raw float32 picture, raw float32 taps, int32 width, int32 height
//: outputs float32 result

//: way two loops and clamps
//: body
int x = i % width, y = i / width;
float sum = 0;
for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
        int u = min(max(x + dx, 0), width - 1), v = min(max(y + dy, 0), height - 1);
        sum += taps[(dy + 1) * 3 + dx + 1] * picture[v * width + u];
    }
result = sum;

//: way constants in the text
//: inputs raw float32 picture, int32 width, int32 height
//: body
const float weights[3][3] = {{0.0625f, 0.125f, 0.0625f}, {0.125f, 0.25f, 0.125f}, {0.0625f, 0.125f, 0.0625f}};
int x = i % width, y = i / width;
float sum = 0;
for (int dy = 0; dy < 3; dy++)
    for (int dx = 0; dx < 3; dx++) {
        int u = min(max(x + dx - 1, 0), width - 1), v = min(max(y + dy - 1, 0), height - 1);
        sum += weights[dy][dx] * picture[{v, u}];
    }
result = sum;

//: way taps by value
//: inputs raw float32 picture, float32 taps[9], int32 width, int32 height
//: body
int x = i % width, y = i / width;
float sum = 0;
for (int k = 0; k < 9; k++) {
    int u = x + k % 3 - 1, v = y + k / 3 - 1;
    u = u < 0 ? 0 : u > width - 1 ? width - 1 : u;
    v = v < 0 ? 0 : v > height - 1 ? height - 1 : v;
    sum += taps[k] * picture[v * width + u];
}
result = sum;

//: way written out with double constants
//: note computes in double
//: inputs raw float32 picture, int32 width, int32 height
//: body
int x = i % width, y = i / width;
int left = x > 0 ? x - 1 : 0, right = x < width - 1 ? x + 1 : x;
int above = y > 0 ? y - 1 : 0, below = y < height - 1 ? y + 1 : y;
result = 0.0625 * picture[above * width + left] + 0.125 * picture[above * width + x] + 0.0625 * picture[above * width + right]
       + 0.125 * picture[y * width + left] + 0.25 * picture[y * width + x] + 0.125 * picture[y * width + right]
       + 0.0625 * picture[below * width + left] + 0.125 * picture[below * width + x] + 0.0625 * picture[below * width + right];

//: way helper for a pixel and shape()
//: inputs raw float32 picture, raw float32 taps, int32 size
//: preamble
__device__ float pixel(CArray<float, 2> &picture, int y, int x) {
    if (y < 0) y = 0;
    if (x < 0) x = 0;
    if (y >= picture.shape()[0]) y = picture.shape()[0] - 1;
    if (x >= picture.shape()[1]) x = picture.shape()[1] - 1;
    return picture[{y, x}];
}
//: body
int x = i % picture.shape()[1], y = i / picture.shape()[1];
float sum = 0;
for (int dy = 0; dy < size; dy++)
    for (int dx = 0; dx < size; dx++)
        sum += taps[{dy, dx}] * pixel(picture, y + dy - size / 2, x + dx - size / 2);
result = sum;

//: way window in a local array
//: body
int x = i % width, y = i / width;
float window[9];
int k = 0;
for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
        window[k++] = picture[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
float sum = 0;
for (k = 0; k < 9; k++) sum += window[k] * taps[k];
result = sum;

//: way plain shifted views
//: inputs float32 p00, float32 p01, float32 p02, float32 p10, float32 p11, float32 p12, float32 p20, float32 p21, float32 p22
//: body
result = 0.0625f * (p00 + p02 + p20 + p22) + 0.125f * (p01 + p10 + p12 + p21) + 0.25f * p11;

//: way pointer to a padded picture
//: inputs raw float32 padded, raw float32 taps, int32 width
//: body
int x = i % width, y = i / width;
const float *p = &padded[y * (width + 2) + x], *w = &taps[0];
float sum = 0;
for (int dy = 0; dy < 3; dy++, p += width + 2, w += 3) sum += w[0] * p[0] + w[1] * p[1] + w[2] * p[2];
result = sum;
