// clang-format off
// The mean of a pixel and those of its eight neighbours that are inside the picture.

//: inputs raw float32 picture, int32 width, int32 height
//: outputs float32 mean

//: way continue outside of the picture
//: body
int x = i % width, y = i / width;
float sum = 0;
int count = 0;
for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
        if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
        sum += picture[(y + dy) * width + x + dx];
        count++;
    }
}
mean = sum / count;

//: way helper function and idx[]
//: preamble
__device__ float local_mean(int x_idx, int y_idx, int width, int height, CArray<float, 2> &picture) {
    float sum = 0;
    int count = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int x = x_idx + dx;
            int y = y_idx + dy;
            if (x < 0 || x >= width || y < 0 || y >= height) continue;
            int idx[] = {y, x};
            sum += picture[idx];
            count += 1;
        }
    }
    return sum / count;
}
//: body
mean = local_mean(i % width, i / width, width, height, picture);

//: way clamped ranges
//: body
int x = i % width, y = i / width;
int y0 = max(y - 1, 0), y1 = min(y + 1, height - 1);
int x0 = max(x - 1, 0), x1 = min(x + 1, width - 1);
float sum = 0;
for (int v = y0; v <= y1; v++)
    for (int u = x0; u <= x1; u++)
        sum += picture[v * width + u];
mean = sum / ((y1 - y0 + 1) * (x1 - x0 + 1));

//: way picture.shape()
//: inputs raw float32 picture
//: body
int x = i % picture.shape()[1], y = i / picture.shape()[1];
float sum = 0;
int count = 0;
for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
        if (x + dx >= 0 && x + dx < picture.shape()[1] && y + dy >= 0 && y + dy < picture.shape()[0]) {
            sum += picture[{y + dy, x + dx}];
            count++;
        }
    }
}
mean = sum / count;

//: way ternaries and zeros outside
//: body
int x = i % width, y = i / width;
float sum = 0, count = 0;
for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
        bool inside = x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height;
        sum += inside ? picture[(y + dy) * width + (x + dx)] : 0;
        count += inside ? 1 : 0;
    }
mean = sum / count;

//: way written out behind a test of the border
//: body
int x = i % width, y = i / width;
if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    const float *p = &picture[i];
    mean = (p[-width - 1] + p[-width] + p[-width + 1] + p[-1] + p[0] + p[1] + p[width - 1] + p[width] + p[width + 1]) / 9;
} else {
    float sum = 0;
    int count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height) {
                sum += picture[(y + dy) * width + x + dx];
                count++;
            }
    mean = sum / count;
}

//: way _ind.get() and long indices
//: inputs raw float32 picture
//: body
const ptrdiff_t *at = _ind.get();
long long y = at[0], x = at[1], height = picture.shape()[0], width = picture.shape()[1];
float sum = 0;
int count = 0;
for (long long v = y - 1; v <= y + 1; v++) {
    if (v < 0 || v >= height) continue;
    for (long long u = x - 1; u <= x + 1; u++) {
        if (u < 0 || u >= width) continue;
        sum += picture[{v, u}];
        count++;
    }
}
mean = sum / count;

//: way double sum and size_t
//: note sums in double
//: inputs raw float32 picture, int64 width, int64 height
//: body
size_t x = (size_t)i % width, y = (size_t)i / width;
double sum = 0;
size_t count = 0;
for (size_t v = y > 0 ? y - 1 : 0; v < y + 2 && v < height; v++)
    for (size_t u = x > 0 ? x - 1 : 0; u < x + 2 && u < width; u++) {
        sum += picture[v * width + u];
        count++;
    }
mean = sum / count;
