// clang-format off
// How many of `samples` points in a square are in the circle, by an own generator for each element.

//: inputs int32 samples
//: outputs raw int32 hits
//: size count

//: way multiplied by a constant
//: body
unsigned state = 747796405u * (unsigned)i + 2891336453u;
int found = 0;
for (int k = 0; k < samples; k++) {
    state = state * 1664525u + 1013904223u;
    float x = (state >> 8) * (1.0f / 16777216.0f);
    state = state * 1664525u + 1013904223u;
    float y = (state >> 8) * (1.0f / 16777216.0f);
    if (x * x + y * y < 1.0f) found++;
}
hits[i] = found;

//: way helper with a reference, divided
//: preamble
__device__ float uniform(unsigned int &state) {
    state = 1664525u * state + 1013904223u;
    return (state >> 8) / 16777216.0f;
}
//: body
unsigned int state = 747796405u * (unsigned int)i + 2891336453u;
int found = 0;
for (int k = 0; k < samples; k++) {
    float x = uniform(state), y = uniform(state);
    found += x * x + y * y < 1 ? 1 : 0;
}
hits[i] = found;

//: way struct, double constants
//: note products in double, a root
//: preamble
struct Generator {
    unsigned state;
    __device__ explicit Generator(long long seed) : state(747796405u * (unsigned)seed + 2891336453u) {}
    __device__ unsigned next() { return state = state * 1664525u + 1013904223u; }
    __device__ float uniform() { return (next() >> 8) * (1.0 / 16777216.0); }
};
//: body
Generator generator(i);
hits[i] = 0;
for (int k = 0; k < samples; k++) {
    float x = generator.uniform();
    float y = generator.uniform();
    if (sqrt(x * x + y * y) < 1.0) hits[i]++;
}

//: way 64-bit state with a mask
//: body
unsigned long long state = (747796405ull * i + 2891336453ull) & 0xffffffffull;
long long found = 0;
for (long long k = 0; k < samples; ++k) {
    float p[2];
    for (int j = 0; j < 2; ++j) {
        state = (state * 1664525ull + 1013904223ull) & 0xffffffffull;
        p[j] = (float)(state >> 8) / (1 << 24);
    }
    if (pow(p[0], 2) + pow(p[1], 2) < 1) ++found;
}
hits[i] = (int)found;

//: way while, whole numbers of 24 bits
//: note products of 64 bits
//: body
uint32_t state = 747796405u * (uint32_t)i + 2891336453u;
int found = 0, k = samples;
while (k-- > 0) {
    state = state * 1664525u + 1013904223u;
    long long x = state >> 8;
    state = state * 1664525u + 1013904223u;
    long long y = state >> 8;
    if (x * x + y * y < 1ll << 48) ++found;
}
hits[i] = found;

//: way samples in the text, plain seeds
//: inputs uint32 seed
//: outputs int32 hits
//: body
unsigned state = 747796405u * seed + 2891336453u;
float found = 0;
for (int k = 0; k < 256; k++) {
    float p[2];
    for (float &each : p) {
        state = state * 1664525u + 1013904223u;
        each = (state >> 8) / 16777216.0;
    }
    found += p[0] * p[0] + p[1] * p[1] < 1;
}
hits = found;
