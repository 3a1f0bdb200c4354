// clang-format off
// How often "the" occurs in each row of text.

//: inputs raw uint8 text, int32 width
//: outputs int32 found

//: way three comparisons
//: body
int count = 0;
for (int k = 0; k + 2 < width; k++)
    if (text[i * width + k] == 't' && text[i * width + k + 1] == 'h' && text[i * width + k + 2] == 'e') count++;
found = count;

//: way loop over the pattern with break
//: inputs raw uint8 text, raw uint8 pattern, int32 width, int32 pattern_width
//: body
int count = 0;
for (int k = 0; k <= width - pattern_width; k++) {
    int j = 0;
    for (; j < pattern_width; j++)
        if (text[i * width + k + j] != pattern[j]) break;
    if (j == pattern_width) count++;
}
found = count;

//: way state machine
//: body
int state = 0;
found = 0;
for (int k = 0; k < width; k++) {
    int c = text[i * width + k];
    switch (state) {
        case 0: state = c == 't'; break;
        case 1: state = c == 'h' ? 2 : c == 't'; break;
        default:
            if (c == 'e') found++;
            state = c == 't';
    }
}

//: way last bytes in one number
//: body
unsigned window = 0;
int count = 0;
for (int k = 0; k < width; k++) {
    window = (window << 8 | text[i * width + k]) & 0xffffff;
    count += window == 0x746865 ? 1 : 0;
}
found = count;

//: way helper that compares, pointers
//: preamble
__device__ bool begins_with(const unsigned char *s, const char *pattern) {
    while (*pattern)
        if (*s++ != *pattern++) return false;
    return true;
}
//: body
const unsigned char *row = &text[i * width];
int count = 0;
for (int k = 0; k < width - 2; ++k)
    if (begins_with(row + k, "the")) ++count;
found = count;

//: way {i, k} and shape()
//: inputs raw uint8 text
//: body
int count = 0;
for (int k = 2; k < text.shape()[1]; k++)
    count += text[{i, k - 2}] == 't' & text[{i, k - 1}] == 'h' & text[{i, k}] == 'e';
found = count;
