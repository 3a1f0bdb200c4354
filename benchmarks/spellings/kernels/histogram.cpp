// clang-format off
// How often each byte occurs.

//: inputs raw uint8 picture, int32 width, int32 height
//: outputs raw int32 bins

//: way atomicAdd for each plain element
//: inputs uint8 value
//: body
atomicAdd(&bins[value], 1);

//: way atomicAdd by index
//: size pixels
//: body
atomicAdd(&bins[picture[i]], 1);

//: way pointers and a test of the range
//: size pixels
//: body
int *first = &bins[0];
const unsigned char *p = &picture[0];
int at = p[i];
if (at >= 0 && at < 256) atomicAdd(first + at, 1);

//: way {y, x} and a 64-bit bin
//: size pixels
//: body
long long y = i / width, x = i % width;
long long at = picture[{y, x}];
atomicAdd(&bins[at], 1);

//: way a row for each element, counts in a local array
//: size height
//: body
int counts[256];
for (int k = 0; k < 256; k++) counts[k] = 0;
for (int x = 0; x < width; x++) counts[picture[i * width + x]]++;
for (int k = 0; k < 256; k++)
    if (counts[k] > 0) atomicAdd(&bins[k], counts[k]);

//: way a row for each element, atomics
//: size height
//: body
const unsigned char *row = &picture[i * width];
for (int x = 0; x < width; ++x) atomicAdd(&bins[row[x]], 1);

//: way a row for each element, runs of equal bytes
//: size height
//: body
int last = picture[{i, 0}], length = 0;
for (int x = 0; x < width; x++) {
    int value = picture[{i, x}];
    if (value == last) {
        length++;
        continue;
    }
    atomicAdd(&bins[last], length);
    last = value;
    length = 1;
}
atomicAdd(&bins[last], length);
