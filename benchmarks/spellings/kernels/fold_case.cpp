// clang-format off
// ASCII letters made small.

//: inputs uint8 letter
//: outputs uint8 folded

//: way ternary
//: body
folded = letter >= 'A' && letter <= 'Z' ? letter + 32 : letter;

//: way if
//: body
folded = letter;
if (letter >= 'A' && letter <= 'Z') folded |= 0x20;

//: way helper on char
//: preamble
__device__ bool is_upper(char c) { return 'A' <= c && c <= 'Z'; }
__device__ char to_lower(char c) {
    if (is_upper(c)) return c - 'A' + 'a';
    return c;
}
//: body
folded = to_lower(letter);

//: way table of 256 bytes
//: inputs uint8 letter, raw uint8 table
//: body
folded = table[letter];

//: way arithmetic on unsigned
//: inputs raw uint8 text
//: body
unsigned c = text[i];
folded = c + ((c - 'A' < 26u) << 5);

//: way {row, column} of int
//: inputs raw uint8 text
//: body
int row = i / text.shape()[1], column = i % text.shape()[1];
int c = text[{row, column}];
if (c < 'A' || c > 'Z') folded = c;
else folded = c + ('a' - 'A');

//: way a row for each element
//: inputs raw uint8 text, int32 rows, int32 width
//: outputs raw uint8 folded
//: size rows
//: body
const unsigned char *from = &text[i * width];
unsigned char *to = &folded[i * width];
for (int k = 0; k < width; k++) to[k] = from[k] >= 'A' && from[k] <= 'Z' ? from[k] + 32 : from[k];
