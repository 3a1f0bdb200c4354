// clang-format off
// For each pixel of A, the pixel of B whose 3x3 patch in colour is nearest: the least sum of squared differences, the
// first in reading order where several are. Pixels outside of a picture are the nearest inside.

//: inputs raw float32 a, raw float32 b, int32 width_a, int32 height_a, int32 width_b, int32 height_b, int32 radius
//: outputs raw int32 nnf
//: size pixels

//: way channels written out
//: body
int xa = i % width_a, ya = i / width_a;
float least = 1e9f;
int nearest_x = 0, nearest_y = 0;
for (int yb = 0; yb < height_b; yb++) {
    for (int xb = 0; xb < width_b; xb++) {
        float sum = 0;
        for (int dy = -radius; dy <= radius; dy++) {
            for (int dx = -radius; dx <= radius; dx++) {
                int at_a = max(0, min(width_a - 1, xa + dx)) + width_a * max(0, min(height_a - 1, ya + dy));
                int at_b = max(0, min(width_b - 1, xb + dx)) + width_b * max(0, min(height_b - 1, yb + dy));
                float d0 = a[at_a * 3] - b[at_b * 3];
                float d1 = a[at_a * 3 + 1] - b[at_b * 3 + 1];
                float d2 = a[at_a * 3 + 2] - b[at_b * 3 + 2];
                sum += d0 * d0;
                sum += d1 * d1;
                sum += d2 * d2;
            }
        }
        if (sum < least) {
            least = sum;
            nearest_x = xb;
            nearest_y = yb;
        }
    }
}
nnf[i * 2] = nearest_x;
nnf[i * 2 + 1] = nearest_y;

//: way loop over channels
//: body
int xa = i % width_a, ya = i / width_a;
float least = 1e9f;
int nearest_x = 0, nearest_y = 0;
for (int yb = 0; yb < height_b; yb++) {
    for (int xb = 0; xb < width_b; xb++) {
        float sum = 0;
        for (int dy = -radius; dy <= radius; dy++) {
            for (int dx = -radius; dx <= radius; dx++) {
                int at_a = max(0, min(width_a - 1, xa + dx)) + width_a * max(0, min(height_a - 1, ya + dy));
                int at_b = max(0, min(width_b - 1, xb + dx)) + width_b * max(0, min(height_b - 1, yb + dy));
                for (int c = 0; c < 3; c++) {
                    float d = a[at_a * 3 + c] - b[at_b * 3 + c];
                    sum += d * d;
                }
            }
        }
        if (sum < least) {
            least = sum;
            nearest_x = xb;
            nearest_y = yb;
        }
    }
}
nnf[i * 2] = nearest_x;
nnf[i * 2 + 1] = nearest_y;

//: way helper functions
//: preamble
__device__ int clamped(int x, int size) {
    if (x < 0) return 0;
    if (x >= size) return size - 1;
    return x;
}
__device__ float squared(float x) { return x * x; }
__device__ float patch_distance(CArray<float, 3> &a, CArray<float, 3> &b, int xa, int ya, int xb, int yb, int width_a,
                                int height_a, int width_b, int height_b, int radius) {
    float sum = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++)
            for (int c = 0; c < 3; c++)
                sum += squared(a[(clamped(ya + dy, height_a) * width_a + clamped(xa + dx, width_a)) * 3 + c] -
                               b[(clamped(yb + dy, height_b) * width_b + clamped(xb + dx, width_b)) * 3 + c]);
    return sum;
}
//: body
int xa = i % width_a, ya = i / width_a;
float least = 1e9f;
int best = 0;
for (int k = 0; k < width_b * height_b; k++) {
    float distance = patch_distance(a, b, xa, ya, k % width_b, k / width_b, width_a, height_a, width_b, height_b, radius);
    if (distance < least) {
        least = distance;
        best = k;
    }
}
nnf[i * 2] = best % width_b;
nnf[i * 2 + 1] = best / width_b;

//: way a[{y, x, c}]
//: body
int xa = i % width_a, ya = i / width_a;
float least = 1e9f;
int nearest_x = 0, nearest_y = 0;
for (int yb = 0; yb < height_b; yb++) {
    for (int xb = 0; xb < width_b; xb++) {
        float sum = 0;
        for (int dy = -radius; dy <= radius; dy++) {
            for (int dx = -radius; dx <= radius; dx++) {
                int y1 = max(0, min(height_a - 1, ya + dy)), x1 = max(0, min(width_a - 1, xa + dx));
                int y2 = max(0, min(height_b - 1, yb + dy)), x2 = max(0, min(width_b - 1, xb + dx));
                for (int c = 0; c < 3; c++) {
                    float d = a[{y1, x1, c}] - b[{y2, x2, c}];
                    sum += d * d;
                }
            }
        }
        if (sum < least) {
            least = sum;
            nearest_x = xb;
            nearest_y = yb;
        }
    }
}
nnf[{ya, xa, 0}] = nearest_x;
nnf[{ya, xa, 1}] = nearest_y;

//: way early exit between rows
//: body
int xa = i % width_a, ya = i / width_a;
float least = 1e9f;
int nearest_x = 0, nearest_y = 0;
for (int yb = 0; yb < height_b; yb++) {
    for (int xb = 0; xb < width_b; xb++) {
        float sum = 0;
        for (int dy = -radius; dy <= radius && sum < least; dy++) {
            int row_a = width_a * max(0, min(height_a - 1, ya + dy));
            int row_b = width_b * max(0, min(height_b - 1, yb + dy));
            for (int dx = -radius; dx <= radius; dx++) {
                int at_a = row_a + max(0, min(width_a - 1, xa + dx));
                int at_b = row_b + max(0, min(width_b - 1, xb + dx));
                for (int c = 0; c < 3; c++) {
                    float d = a[at_a * 3 + c] - b[at_b * 3 + c];
                    sum += d * d;
                }
            }
        }
        if (sum < least) {
            least = sum;
            nearest_x = xb;
            nearest_y = yb;
        }
    }
}
nnf[i * 2] = nearest_x;
nnf[i * 2 + 1] = nearest_y;

//: way long long indices
//: body
long long xa = i % width_a, ya = i / width_a;
float least = 1e9f;
long long nearest_x = 0, nearest_y = 0;
for (long long yb = 0; yb < height_b; yb++) {
    for (long long xb = 0; xb < width_b; xb++) {
        float sum = 0;
        for (long long dy = -radius; dy <= radius; dy++) {
            for (long long dx = -radius; dx <= radius; dx++) {
                long long x1 = xa + dx, y1 = ya + dy, x2 = xb + dx, y2 = yb + dy;
                x1 = x1 < 0 ? 0 : x1 >= width_a ? width_a - 1 : x1;
                y1 = y1 < 0 ? 0 : y1 >= height_a ? height_a - 1 : y1;
                x2 = x2 < 0 ? 0 : x2 >= width_b ? width_b - 1 : x2;
                y2 = y2 < 0 ? 0 : y2 >= height_b ? height_b - 1 : y2;
                long long at_a = (y1 * width_a + x1) * 3, at_b = (y2 * width_b + x2) * 3;
                float d0 = a[at_a] - b[at_b], d1 = a[at_a + 1] - b[at_b + 1], d2 = a[at_a + 2] - b[at_b + 2];
                sum += d0 * d0;
                sum += d1 * d1;
                sum += d2 * d2;
            }
        }
        if (sum < least) {
            least = sum;
            nearest_x = xb;
            nearest_y = yb;
        }
    }
}
nnf[i * 2] = nearest_x;
nnf[i * 2 + 1] = nearest_y;

//: way patch size in the text
//: inputs raw float32 a, raw float32 b, int32 width_a, int32 height_a, int32 width_b, int32 height_b
//: body
const int patch = 3;
int xa = i % width_a, ya = i / width_a;
float least = 1e9f;
int nearest_x = 0, nearest_y = 0;
for (int yb = 0; yb < height_b; yb++) {
    for (int xb = 0; xb < width_b; xb++) {
        float sum = 0;
        for (int py = 0; py < patch; py++) {
            for (int px = 0; px < patch; px++) {
                int y1 = max(0, min(height_a - 1, ya + py - patch / 2)), x1 = max(0, min(width_a - 1, xa + px - patch / 2));
                int y2 = max(0, min(height_b - 1, yb + py - patch / 2)), x2 = max(0, min(width_b - 1, xb + px - patch / 2));
                for (int c = 0; c < 3; c++) {
                    float d = a[(y1 * width_a + x1) * 3 + c] - b[(y2 * width_b + x2) * 3 + c];
                    sum += d * d;
                }
            }
        }
        if (sum < least) {
            least = sum;
            nearest_x = xb;
            nearest_y = yb;
        }
    }
}
nnf[i * 2] = nearest_x;
nnf[i * 2 + 1] = nearest_y;

//: way pow(d, 2) and the mean
//: body
int xa = i % width_a, ya = i / width_a;
float least = 1e9;
int nearest_x = 0, nearest_y = 0;
for (int yb = 0; yb < height_b; yb++) {
    for (int xb = 0; xb < width_b; xb++) {
        float mse = 0;
        for (int dy = radius * (-1); dy <= radius; dy++) {
            for (int dx = radius * (-1); dx <= radius; dx++) {
                int at_a = max(0, min(width_a - 1, xa + dx)) + width_a * max(0, min(height_a - 1, ya + dy));
                int at_b = max(0, min(width_b - 1, xb + dx)) + width_b * max(0, min(height_b - 1, yb + dy));
                mse += pow(a[at_a * 3] - b[at_b * 3], 2);
                mse += pow(a[at_a * 3 + 1] - b[at_b * 3 + 1], 2);
                mse += pow(a[at_a * 3 + 2] - b[at_b * 3 + 2], 2);
            }
        }
        mse = mse / ((radius * 2 + 1) * (radius * 2 + 1) * 3);
        if (mse < least) {
            least = mse;
            nearest_x = xb;
            nearest_y = yb;
        }
    }
}
nnf[i * 2] = nearest_x;
nnf[i * 2 + 1] = nearest_y;

//: way a.shape()
//: inputs raw float32 a, raw float32 b, int32 radius
//: body
int height_a = a.shape()[0], width_a = a.shape()[1];
int height_b = b.shape()[0], width_b = b.shape()[1];
int xa = i % width_a, ya = i / width_a;
float least = 1e9f;
int best = 0;
for (int yb = 0; yb < height_b; yb++) {
    for (int xb = 0; xb < width_b; xb++) {
        float sum = 0;
        for (int dy = -radius; dy <= radius; dy++) {
            for (int dx = -radius; dx <= radius; dx++) {
                int y1 = max(0, min(height_a - 1, ya + dy)), x1 = max(0, min(width_a - 1, xa + dx));
                int y2 = max(0, min(height_b - 1, yb + dy)), x2 = max(0, min(width_b - 1, xb + dx));
                for (int c = 0; c < 3; c++) {
                    float d = a[(y1 * width_a + x1) * 3 + c] - b[(y2 * width_b + x2) * 3 + c];
                    sum += d * d;
                }
            }
        }
        if (sum < least) least = sum, best = yb * width_b + xb;
    }
}
nnf[i * 2] = best % width_b;
nnf[i * 2 + 1] = best / width_b;

//: way pointers
//: preamble
#include <algorithm>
//: body
const float *first = &a[0], *second = &b[0];
int xa = i % width_a, ya = i / width_a;
float least = 1e9f;
int nearest_x = 0, nearest_y = 0;
for (int yb = 0; yb < height_b; ++yb) {
    for (int xb = 0; xb < width_b; ++xb) {
        float sum = 0;
        for (int dy = -radius; dy <= radius; ++dy) {
            const float *row_a = first + std::min(std::max(ya + dy, 0), height_a - 1) * width_a * 3;
            const float *row_b = second + std::min(std::max(yb + dy, 0), height_b - 1) * width_b * 3;
            for (int dx = -radius; dx <= radius; ++dx) {
                const float *p = row_a + std::min(std::max(xa + dx, 0), width_a - 1) * 3;
                const float *q = row_b + std::min(std::max(xb + dx, 0), width_b - 1) * 3;
                for (int c = 0; c < 3; ++c, ++p, ++q) sum += (*p - *q) * (*p - *q);
            }
        }
        if (sum < least) {
            least = sum;
            nearest_x = xb;
            nearest_y = yb;
        }
    }
}
nnf[i * 2] = nearest_x;
nnf[i * 2 + 1] = nearest_y;

//: way patch of A in a local array
//: inputs raw float32 a, raw float32 b, int32 width_a, int32 height_a, int32 width_b, int32 height_b
//: body
int xa = i % width_a, ya = i / width_a;
float patch[27];
for (int k = 0; k < 9; k++) {
    int y = max(0, min(height_a - 1, ya + k / 3 - 1)), x = max(0, min(width_a - 1, xa + k % 3 - 1));
    for (int c = 0; c < 3; c++) patch[k * 3 + c] = a[(y * width_a + x) * 3 + c];
}
float least = 1e9f;
int nearest_x = 0, nearest_y = 0;
for (int yb = 0; yb < height_b; yb++) {
    for (int xb = 0; xb < width_b; xb++) {
        float sum = 0;
        for (int k = 0; k < 9; k++) {
            int y = max(0, min(height_b - 1, yb + k / 3 - 1)), x = max(0, min(width_b - 1, xb + k % 3 - 1));
            for (int c = 0; c < 3; c++) {
                float d = patch[k * 3 + c] - b[(y * width_b + x) * 3 + c];
                sum += d * d;
            }
        }
        if (sum < least) {
            least = sum;
            nearest_x = xb;
            nearest_y = yb;
        }
    }
}
nnf[i * 2] = nearest_x;
nnf[i * 2 + 1] = nearest_y;

//: way plain strided outputs and unsigned indices
//: outputs int32 nearest_x, int32 nearest_y
//: body
unsigned xa = i % width_a, ya = i / width_a;
float least = 1e9f;
nearest_x = nearest_y = 0;
for (unsigned yb = 0; yb < height_b; yb++) {
    for (unsigned xb = 0; xb < width_b; xb++) {
        float sum = 0;
        for (int dy = -radius; dy <= radius; dy++) {
            for (int dx = -radius; dx <= radius; dx++) {
                unsigned at_a = max(0, min(width_a - 1, (int)xa + dx)) + width_a * max(0, min(height_a - 1, (int)ya + dy));
                unsigned at_b = max(0, min(width_b - 1, (int)xb + dx)) + width_b * max(0, min(height_b - 1, (int)yb + dy));
                for (unsigned c = 0; c < 3; c++) {
                    float d = a[at_a * 3 + c] - b[at_b * 3 + c];
                    sum += d * d;
                }
            }
        }
        if (sum < least) {
            least = sum;
            nearest_x = xb;
            nearest_y = yb;
        }
    }
}
