// clang-format off
// How many characters each row of UTF-8 has; a row ends with 0 or with its width.

//: inputs raw uint8 text, int32 width
//: outputs int32 length

//: way for with break
//: body
int count = 0;
for (int k = 0; k < width; k++) {
    int c = text[i * width + k];
    if (c == 0) break;
    if ((c & 0xc0) != 0x80) count++;
}
length = count;

//: way while and a pointer
//: body
const unsigned char *p = &text[i * width], *end = p + width;
int count = 0;
while (p < end && *p) {
    count += (*p & 0xc0) != 0x80;
    ++p;
}
length = count;

//: way {i, k}, signed bytes
//: inputs raw uint8 text
//: body
length = 0;
for (int k = 0; k < text.shape()[1] && text[{i, k}] != 0; k++)
    if ((signed char)text[{i, k}] >= -64) length += 1;

//: way jump by the first byte
//: preamble
__device__ int bytes_of(unsigned char first) {
    if (first < 0x80) return 1;
    if (first < 0xe0) return 2;
    if (first < 0xf0) return 3;
    return 4;
}
//: body
int count = 0;
for (int k = 0; k < width && text[i * width + k]; k += bytes_of(text[i * width + k])) ++count;
length = count;

//: way helper with return, size_t
//: preamble
__device__ int length_of(const unsigned char *s, size_t width) {
    int count = 0;
    for (size_t k = 0; k < width; ++k) {
        if (s[k] == '\0') return count;
        count += s[k] < 0x80 || s[k] >= 0xc0 ? 1 : 0;
    }
    return count;
}
//: body
length = length_of(&text[i * width], width);

//: way without leaving, a flag
//: note reads whole rows
//: body
int count = 0;
bool is_over = false;
for (int k = 0; k < width; k++) {
    unsigned char c = text[i * width + k];
    is_over = is_over || c == 0;
    if (!is_over && c >> 6 != 2) count++;
}
length = count;
