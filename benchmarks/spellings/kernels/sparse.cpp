// clang-format off
// The product of a sparse matrix (compressed rows) and a vector.

//: inputs raw int32 begins, raw int32 columns, raw float32 values, raw float32 x
//: outputs float32 y

//: way for over the row
//: body
float sum = 0;
for (int k = begins[i]; k < begins[i + 1]; k++) sum += values[k] * x[columns[k]];
y = sum;

//: way while and pointers
//: body
const float *value = &values[begins[i]], *end = &values[begins[i + 1]];
const int *column = &columns[begins[i]];
float sum = 0;
while (value < end) sum += *value++ * x[*column++];
y = sum;

//: way long long
//: body
long long begin = begins[i], end = begins[i + 1];
y = 0;
for (long long k = begin; k < end; ++k) {
    long long column = columns[k];
    y += values[k] * x[column];
}

//: way plain begins and ends
//: inputs int32 begin, int32 end, raw int32 columns, raw float32 values, raw float32 x
//: body
float sum = 0;
for (int k = begin; k != end; k++) sum = fmaf(values[k], x[columns[k]], sum);
y = sum;

//: way helper with a length
//: preamble
__device__ float sparse_dot(const float *values, const int *columns, int length, const float *x) {
    float sum = 0;
    for (int k = 0; k < length; ++k) sum += values[k] * x[columns[k]];
    return sum;
}
//: body
y = sparse_dot(&values[begins[i]], &columns[begins[i]], begins[i + 1] - begins[i], &x[0]);

//: way double sum, size_t
//: note sums in double
//: body
double sum = 0.0;
for (size_t k = begins[i]; k < (size_t)begins[i + 1]; k++) sum += values[k] * x[columns[k]];
y = (float)sum;

//: way two sums
//: body
int k = begins[i], end = begins[i + 1];
float even = 0, odd = 0;
for (; k + 1 < end; k += 2) {
    even += values[k] * x[columns[k]];
    odd += values[k + 1] * x[columns[k + 1]];
}
if (k < end) even += values[k] * x[columns[k]];
y = even + odd;
