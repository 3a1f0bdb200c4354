// clang-format off
// Bilinear resizing: centres of pixels correspond, coordinates are clamped to the picture.

//: inputs raw float32 picture, int32 width, int32 height, int32 new_width, int32 new_height
//: outputs float32 result

//: way scale by division
//: body
int x = i % new_width, y = i / new_width;
float u = (x + 0.5f) * width / new_width - 0.5f, v = (y + 0.5f) * height / new_height - 0.5f;
u = min(max(u, 0.0f), width - 1.0f);
v = min(max(v, 0.0f), height - 1.0f);
int x0 = (int)u, y0 = (int)v, x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
float fx = u - x0, fy = v - y0;
float above = picture[y0 * width + x0] * (1 - fx) + picture[y0 * width + x1] * fx;
float below = picture[y1 * width + x0] * (1 - fx) + picture[y1 * width + x1] * fx;
result = above * (1 - fy) + below * fy;

//: way floorf and {y, x}
//: inputs raw float32 picture, float32 scale_x, float32 scale_y, int32 new_width
//: body
int height = picture.shape()[0], width = picture.shape()[1];
int x = i % new_width, y = i / new_width;
float u = (x + 0.5f) * scale_x - 0.5f, v = (y + 0.5f) * scale_y - 0.5f;
float left = floorf(u), top = floorf(v), fx = u - left, fy = v - top;
int x0 = min(max((int)left, 0), width - 1), x1 = min(max((int)left + 1, 0), width - 1);
int y0 = min(max((int)top, 0), height - 1), y1 = min(max((int)top + 1, 0), height - 1);
result = (1 - fy) * ((1 - fx) * picture[{y0, x0}] + fx * picture[{y0, x1}])
       + fy * ((1 - fx) * picture[{y1, x0}] + fx * picture[{y1, x1}]);

//: way double coordinates
//: note computes in double
//: body
int x = i % new_width, y = i / new_width;
double u = (x + 0.5) * width / new_width - 0.5, v = (y + 0.5) * height / new_height - 0.5;
if (u < 0) u = 0;
if (v < 0) v = 0;
int x0 = u, y0 = v;
int x1 = x0 + 1 < width ? x0 + 1 : x0, y1 = y0 + 1 < height ? y0 + 1 : y0;
double fx = u - x0, fy = v - y0;
if (fx > 1) fx = 1;
result = picture[y0 * width + x0] * (1 - fx) * (1 - fy) + picture[y0 * width + x1] * fx * (1 - fy)
       + picture[y1 * width + x0] * (1 - fx) * fy + picture[y1 * width + x1] * fx * fy;

//: way helper lerp, pointers to rows
//: inputs raw float32 picture, int32 width, int32 height, float32 scale_x, float32 scale_y, int32 new_width
//: preamble
__device__ float lerp(float a, float b, float t) { return a + (b - a) * t; }
//: body
float u = fminf(fmaxf((i % new_width + 0.5f) * scale_x - 0.5f, 0.f), width - 1);
float v = fminf(fmaxf((i / new_width + 0.5f) * scale_y - 0.5f, 0.f), height - 1);
int x0 = u, y0 = v, right = x0 + 1 < width ? 1 : 0;
const float *top = &picture[y0 * width + x0], *bottom = y0 + 1 < height ? top + width : top;
result = lerp(lerp(top[0], top[right], u - x0), lerp(bottom[0], bottom[right], u - x0), v - y0);

//: way tables of columns
//: inputs raw float32 picture, raw int32 column, raw float32 column_part, raw int32 row, raw float32 row_part, int32 width, int32 height, int32 new_width
//: body
int x = i % new_width, y = i / new_width;
int x0 = column[x], y0 = row[y], x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
float fx = column_part[x], fy = row_part[y];
float above = picture[y0 * width + x0] + fx * (picture[y0 * width + x1] - picture[y0 * width + x0]);
float below = picture[y1 * width + x0] + fx * (picture[y1 * width + x1] - picture[y1 * width + x0]);
result = above + fy * (below - above);

//: way loops over 2x2 weights
//: inputs raw float32 picture, float32 scale_x, float32 scale_y
//: body
const ptrdiff_t *at = _ind.get();
float v = (at[0] + 0.5f) * scale_y - 0.5f, u = (at[1] + 0.5f) * scale_x - 0.5f;
long long height = picture.shape()[0], width = picture.shape()[1];
long long y0 = floorf(v), x0 = floorf(u);
float sum = 0;
for (int dy = 0; dy < 2; dy++)
    for (int dx = 0; dx < 2; dx++) {
        float weight = (1 - fabsf(v - (y0 + dy))) * (1 - fabsf(u - (x0 + dx)));
        long long yy = y0 + dy < 0 ? 0 : y0 + dy >= height ? height - 1 : y0 + dy;
        long long xx = x0 + dx < 0 ? 0 : x0 + dx >= width ? width - 1 : x0 + dx;
        sum += weight * picture[{yy, xx}];
    }
result = sum;
