// clang-format off
// The nearest of 512 points in space for each row of x; the first where several are.

//: inputs raw float32 x, raw float32 points, int32 count
//: outputs int32 nearest

//: way three differences
//: body
float px = x[i * 3], py = x[i * 3 + 1], pz = x[i * 3 + 2];
float least = 1e30f;
int best = 0;
for (int k = 0; k < count; k++) {
    float dx = points[k * 3] - px, dy = points[k * 3 + 1] - py, dz = points[k * 3 + 2] - pz;
    float distance = dx * dx + dy * dy + dz * dz;
    if (distance < least) {
        least = distance;
        best = k;
    }
}
nearest = best;

//: way pow(d, 2) and {k, j}
//: body
float least = 1e30;
int best = 0;
for (int k = 0; k < count; k++) {
    float distance = 0;
    for (int j = 0; j < 3; j++) distance += pow(points[{k, j}] - x[{i, j}], 2);
    if (distance < least) {
        least = distance;
        best = k;
    }
}
nearest = best;

//: way plain strided coordinates
//: inputs float32 x0, float32 x1, float32 x2, raw float32 points, int32 count
//: body
float least = 1e30f;
nearest = 0;
for (int k = 0; k < count; k++) {
    float distance = (points[{k, 0}] - x0) * (points[{k, 0}] - x0) + (points[{k, 1}] - x1) * (points[{k, 1}] - x1)
                   + (points[{k, 2}] - x2) * (points[{k, 2}] - x2);
    if (distance < least) least = distance, nearest = k;
}

//: way loop over coordinates, shape() and size_t
//: inputs raw float32 x, raw float32 points
//: body
float least = 1e30f;
size_t best = 0;
for (size_t k = 0; k < points.shape()[0]; k++) {
    float distance = 0;
    for (size_t j = 0; j < points.shape()[1]; j++) {
        float d = points[k * points.shape()[1] + j] - x[i * x.shape()[1] + j];
        distance += d * d;
    }
    if (distance < least) {
        least = distance;
        best = k;
    }
}
nearest = best;

//: way helper with pointers, ternaries
//: preamble
__device__ float squared_distance(const float *p, const float *q) {
    float sum = 0;
    for (int j = 0; j < 3; ++j) sum += (p[j] - q[j]) * (p[j] - q[j]);
    return sum;
}
//: body
const float *p = &x[i * 3], *q = &points[0];
float least = squared_distance(p, q);
int best = 0;
for (int k = 1; k < count; ++k) {
    float distance = squared_distance(p, q + k * 3);
    best = distance < least ? k : best;
    least = distance < least ? distance : least;
}
nearest = best;

//: way 512 in the text, three planes, early exit
//: inputs float32 x0, float32 x1, float32 x2, raw float32 p0, raw float32 p1, raw float32 p2
//: body
float least = 1e30f;
int best = 0;
for (int k = 0; k < 512; k++) {
    float dx = p0[k] - x0, distance = dx * dx;
    if (distance >= least) continue;
    float dy = p1[k] - x1, dz = p2[k] - x2;
    distance += dy * dy + dz * dz;
    if (distance < least) {
        least = distance;
        best = k;
    }
}
nearest = best;

//: way sqrt and norm
//: note a root for each point
//: body
float least = 1e30f;
int best = 0;
for (long long k = 0; k < count; k++) {
    float dx = x[{i, 0}] - points[{k, 0}], dy = x[{i, 1}] - points[{k, 1}], dz = x[{i, 2}] - points[{k, 2}];
    float distance = sqrt(dx * dx + dy * dy + dz * dz);
    if (distance < least) {
        least = distance;
        best = k;
    }
}
nearest = best;
