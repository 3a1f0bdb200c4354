// clang-format off
// The median of 3x3 bytes; the edge is repeated.

//: inputs raw uint8 picture, int32 width, int32 height
//: outputs uint8 median

//: way network of min and max
//: preamble
__device__ void order(int &a, int &b) {
    int low = min(a, b);
    b = max(a, b);
    a = low;
}
//: body
int x = i % width, y = i / width;
int x0 = max(x - 1, 0), x2 = min(x + 1, width - 1), y0 = max(y - 1, 0) * width, y1 = y * width, y2 = min(y + 1, height - 1) * width;
int a = picture[y0 + x0], b = picture[y0 + x], c = picture[y0 + x2];
int d = picture[y1 + x0], e = picture[y1 + x], f = picture[y1 + x2];
int g = picture[y2 + x0], h = picture[y2 + x], k = picture[y2 + x2];
order(b, c); order(e, f); order(h, k);
order(a, b); order(d, e); order(g, h);
order(b, c); order(e, f); order(h, k);
a = max(max(a, d), g);
c = min(min(c, f), k);
order(b, e); order(e, h); order(b, e);
order(a, e); order(e, c); order(a, e);
median = e;

//: way bubble sort of a local array
//: body
int x = i % width, y = i / width;
unsigned char window[9];
int count = 0;
for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
        window[count++] = picture[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
for (int p = 0; p < 9; p++)
    for (int q = 0; q < 8 - p; q++)
        if (window[q] > window[q + 1]) {
            unsigned char t = window[q];
            window[q] = window[q + 1];
            window[q + 1] = t;
        }
median = window[4];

//: way insertion sort with while
//: inputs raw uint8 picture
//: body
int height = picture.shape()[0], width = picture.shape()[1];
int x = i % width, y = i / width, window[9];
for (int k = 0; k < 9; k++) {
    int v = min(max(y + k / 3 - 1, 0), height - 1), u = min(max(x + k % 3 - 1, 0), width - 1);
    int value = picture[{v, u}], at = k;
    while (at > 0 && window[at - 1] > value) {
        window[at] = window[at - 1];
        at--;
    }
    window[at] = value;
}
median = window[4];

//: way ranks by counting
//: note 81 comparisons
//: body
int x = i % width, y = i / width;
int window[9];
for (int k = 0; k < 9; k++)
    window[k] = picture[min(max(y + k / 3 - 1, 0), height - 1) * width + min(max(x + k % 3 - 1, 0), width - 1)];
for (int k = 0; k < 9; k++) {
    int rank = 0;
    for (int j = 0; j < 9; j++)
        if (window[j] < window[k] || (window[j] == window[k] && j < k)) rank++;
    if (rank == 4) median = window[k];
}

//: way five rounds of selection
//: note 30 comparisons, computed indices
//: preamble
#include <utility>
//: body
int x = i % width, y = i / width;
float window[9];
for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx)
        window[dy * 3 + dx] = picture[{max(0, min(height - 1, y + dy - 1)), max(0, min(width - 1, x + dx - 1))}];
for (int k = 0; k < 5; ++k) {
    int least = k;
    for (int j = k + 1; j < 9; ++j)
        if (window[j] < window[least]) least = j;
    std::swap(window[k], window[least]);
}
median = window[4];

//: way exchanges over an array of pairs
//: preamble
__device__ void exchange(unsigned char *v, int a, int b) {
    if (v[a] > v[b]) {
        unsigned char t = v[a];
        v[a] = v[b];
        v[b] = t;
    }
}
//: body
const int pairs[19][2] = {{1, 2}, {4, 5}, {7, 8}, {0, 1}, {3, 4}, {6, 7}, {1, 2}, {4, 5}, {7, 8}, {0, 3},
                          {5, 8}, {4, 7}, {3, 6}, {1, 4}, {2, 5}, {4, 7}, {4, 2}, {6, 4}, {4, 2}};
int x = i % width, y = i / width;
unsigned char v[9];
for (int k = 0; k < 9; k++) {
    int row = y + k / 3 - 1, column = x + k % 3 - 1;
    row = row < 0 ? 0 : row >= height ? height - 1 : row;
    column = column < 0 ? 0 : column >= width ? width - 1 : column;
    v[k] = picture[row * width + column];
}
for (int k = 0; k < 19; k++) exchange(v, pairs[k][0], pairs[k][1]);
median = v[4];
