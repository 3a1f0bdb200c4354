// clang-format off
// A picture turned around its centre, with waves: bilinear, 0 outside.

//: inputs raw float32 picture, int32 width, int32 height, float32 cosine, float32 sine
//: outputs float32 result

//: way one test for the inside
//: body
int x = i % width, y = i / width;
float dx = x - width * 0.5f, dy = y - height * 0.5f;
float u = cosine * dx - sine * dy + width * 0.5f + 3 * sinf(0.05f * y);
float v = sine * dx + cosine * dy + height * 0.5f;
int x0 = (int)floorf(u), y0 = (int)floorf(v);
result = 0;
if (x0 >= 0 && x0 < width - 1 && y0 >= 0 && y0 < height - 1) {
    float fx = u - x0, fy = v - y0;
    int at = y0 * width + x0;
    result = (1 - fy) * ((1 - fx) * picture[at] + fx * picture[at + 1])
           + fy * ((1 - fx) * picture[at + width] + fx * picture[at + width + 1]);
}

//: way return where outside, {y, x}
//: body
int x = i % width, y = i / width;
float dx = x - width / 2.0f, dy = y - height / 2.0f;
float u = cosine * dx - sine * dy + width / 2.0f + 3 * sinf(0.05f * y);
float v = sine * dx + cosine * dy + height / 2.0f;
int x0 = floorf(u), y0 = floorf(v);
result = 0;
if (x0 < 0 || x0 >= width - 1 || y0 < 0 || y0 >= height - 1) return;
float fx = u - x0, fy = v - y0;
float above = picture[{y0, x0}] + fx * (picture[{y0, x0 + 1}] - picture[{y0, x0}]);
float below = picture[{y0 + 1, x0}] + fx * (picture[{y0 + 1, x0 + 1}] - picture[{y0 + 1, x0}]);
result = above + fy * (below - above);

//: way clamped reads and a select
//: body
int x = i % width, y = i / width;
float dx = x - width * 0.5f, dy = y - height * 0.5f;
float u = cosine * dx - sine * dy + width * 0.5f + 3 * sinf(0.05f * y);
float v = sine * dx + cosine * dy + height * 0.5f;
int x0 = (int)floorf(u), y0 = (int)floorf(v);
bool inside = x0 >= 0 && x0 < width - 1 && y0 >= 0 && y0 < height - 1;
int xs = min(max(x0, 0), width - 2), ys = min(max(y0, 0), height - 2);
float fx = u - x0, fy = v - y0;
float a = picture[ys * width + xs], b = picture[ys * width + xs + 1];
float c = picture[(ys + 1) * width + xs], d = picture[(ys + 1) * width + xs + 1];
result = inside ? (a * (1 - fx) + b * fx) * (1 - fy) + (c * (1 - fx) + d * fx) * fy : 0;

//: way helper that samples, double constants
//: note computes in double, sines in double
//: inputs raw float32 picture, float32 angle
//: preamble
__device__ float sample(CArray<float, 2> &picture, float u, float v) {
    int x = floor(u), y = floor(v);
    if (x < 0 || y < 0 || x >= picture.shape()[1] - 1 || y >= picture.shape()[0] - 1) return 0.0;
    float fx = u - x, fy = v - y;
    return (1.0 - fy) * ((1.0 - fx) * picture[{y, x}] + fx * picture[{y, x + 1}])
         + fy * ((1.0 - fx) * picture[{y + 1, x}] + fx * picture[{y + 1, x + 1}]);
}
//: body
int height = picture.shape()[0], width = picture.shape()[1];
float x = i % width - width / 2.0, y = i / width - height / 2.0;
result = sample(picture, cos(angle) * x - sin(angle) * y + width / 2.0 + 3.0 * sin(0.05 * (i / width)),
                sin(angle) * x + cos(angle) * y + height / 2.0);

//: way sincosf of the angle for each pixel
//: inputs raw float32 picture, int32 width, int32 height, float32 angle
//: body
float s, c;
sincosf(angle, &s, &c);
int x = i % width, y = i / width;
float dx = x - width * 0.5f, dy = y - height * 0.5f;
float u = c * dx - s * dy + width * 0.5f + 3 * sinf(0.05f * y), v = s * dx + c * dy + height * 0.5f;
long long x0 = (long long)floorf(u), y0 = (long long)floorf(v);
float fx = u - x0, fy = v - y0, sum = 0;
if (x0 >= 0 && x0 + 1 < width && y0 >= 0 && y0 + 1 < height)
    for (int p = 0; p < 2; p++)
        for (int q = 0; q < 2; q++)
            sum += (p ? fy : 1 - fy) * (q ? fx : 1 - fx) * picture[(y0 + p) * width + x0 + q];
result = sum;

//: way coordinates in plain arrays
//: inputs float32 map_x, float32 map_y, raw float32 picture, int32 width, int32 height
//: body
int x0 = (int)floorf(map_x), y0 = (int)floorf(map_y);
result = 0;
if (x0 >= 0 && x0 < width - 1 && y0 >= 0 && y0 < height - 1) {
    float fx = map_x - x0, fy = map_y - y0;
    const float *p = &picture[y0 * width + x0];
    result = (1 - fy) * ((1 - fx) * p[0] + fx * p[1]) + fy * ((1 - fx) * p[width] + fx * p[width + 1]);
}
