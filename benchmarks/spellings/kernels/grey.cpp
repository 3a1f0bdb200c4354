// clang-format off
// The grey of an RGB picture of bytes: 0.299 r + 0.587 g + 0.114 b, rounded.

//: inputs raw uint8 picture
//: outputs uint8 grey

//: way i * 3 + c
//: body
grey = 0.299f * picture[i * 3] + 0.587f * picture[i * 3 + 1] + 0.114f * picture[i * 3 + 2] + 0.5f;

//: way three strided views
//: inputs uint8 red, uint8 green, uint8 blue
//: body
grey = 0.299f * red + 0.587f * green + 0.114f * blue + 0.5f;

//: way {y, x, c} in a loop
//: inputs raw uint8 picture, int32 width
//: body
const float weights[3] = {0.299f, 0.587f, 0.114f};
int x = i % width, y = i / width;
float sum = 0;
for (int c = 0; c < 3; c++) sum += weights[c] * picture[{y, x, c}];
grey = (unsigned char)(sum + 0.5f);

//: way weights in an array
//: inputs raw uint8 picture, raw float32 weights
//: body
float sum = 0.5f;
for (int c = 0; c < 3; c++) sum += weights[c] * picture[i * 3 + c];
grey = sum;

//: way fixed point
//: body
grey = (299 * picture[3 * i] + 587 * picture[3 * i + 1] + 114 * picture[3 * i + 2] + 500) / 1000;

//: way double constants
//: note computes in double
//: body
grey = 0.299 * picture[i * 3] + 0.587 * picture[i * 3 + 1] + 0.114 * picture[i * 3 + 2] + 0.5;

//: way pointer and helper
//: preamble
__device__ unsigned char luma(const unsigned char *rgb) {
    float r = rgb[0], g = rgb[1], b = rgb[2];
    return (unsigned char)rintf(0.299f * r + 0.587f * g + 0.114f * b);
}
//: body
grey = luma(&picture[i * 3]);

//: way planes by raw views
//: inputs raw uint8 red, raw uint8 green, raw uint8 blue
//: body
int r = red[i], g = green[i], b = blue[i];
grey = (77 * r + 150 * g + 29 * b + 128) >> 8;
