// clang-format off
// Hue (0 to 360), saturation and value of an RGB picture of float32 numbers from 0 to 1.

//: inputs raw float32 picture
//: outputs raw float32 hsv
//: size pixels

//: way if and else
//: body
float r = picture[i * 3], g = picture[i * 3 + 1], b = picture[i * 3 + 2];
float v = max(r, max(g, b)), low = min(r, min(g, b)), d = v - low;
float h = 0, s = 0;
if (v > 0) s = d / v;
if (d > 0) {
    if (v == r) h = 60 * (g - b) / d;
    else if (v == g) h = 60 * (b - r) / d + 120;
    else h = 60 * (r - g) / d + 240;
    if (h < 0) h += 360;
}
hsv[i * 3] = h;
hsv[i * 3 + 1] = s;
hsv[i * 3 + 2] = v;

//: way ternaries
//: body
float r = picture[i * 3 + 0], g = picture[i * 3 + 1], b = picture[i * 3 + 2];
float v = fmaxf(fmaxf(r, g), b), d = v - fminf(fminf(r, g), b);
float scale = d > 0 ? 60.0f / d : 0.0f;
float h = v == r ? (g - b) * scale : v == g ? (b - r) * scale + 120 : (r - g) * scale + 240;
h = d > 0 ? h : 0;
hsv[i * 3 + 0] = h < 0 ? h + 360 : h;
hsv[i * 3 + 1] = v > 0 ? d / v : 0;
hsv[i * 3 + 2] = v;

//: way plain strided views
//: inputs float32 red, float32 green, float32 blue
//: outputs float32 hue, float32 saturation, float32 value
//: body
float v = red > green ? red : green;
v = v > blue ? v : blue;
float low = red < green ? red : green;
low = low < blue ? low : blue;
float d = v - low;
value = v;
saturation = v == 0 ? 0 : d / v;
if (d == 0) hue = 0;
else if (v == red) hue = 60 * ((green - blue) / d + (green < blue ? 6 : 0));
else if (v == green) hue = 60 * ((blue - red) / d + 2);
else hue = 60 * ((red - green) / d + 4);

//: way double constants and fmod
//: note computes in double, a remainder
//: body
float r = picture[i * 3], g = picture[i * 3 + 1], b = picture[i * 3 + 2];
float v = max(max(r, g), b), d = v - min(min(r, g), b), h = 0.0;
if (d > 0.0) {
    if (v == r) h = 60.0 * fmod((g - b) / d + 6.0, 6.0);
    else if (v == g) h = 60.0 * ((b - r) / d + 2.0);
    else h = 60.0 * ((r - g) / d + 4.0);
}
hsv[i * 3] = h;
hsv[i * 3 + 1] = v > 0.0 ? d / v : 0.0;
hsv[i * 3 + 2] = v;

//: way helper with references
//: preamble
#include <algorithm>
__device__ void to_hsv(const float *rgb, float &h, float &s, float &v) {
    v = std::max(std::max(rgb[0], rgb[1]), rgb[2]);
    float d = v - std::min(std::min(rgb[0], rgb[1]), rgb[2]);
    s = v > 0 ? d / v : 0;
    h = 0;
    if (d <= 0) return;
    if (v == rgb[0]) h = (rgb[1] - rgb[2]) / d;
    else if (v == rgb[1]) h = (rgb[2] - rgb[0]) / d + 2;
    else h = (rgb[0] - rgb[1]) / d + 4;
    h *= 60;
    if (h < 0) h += 360;
}
//: body
to_hsv(&picture[i * 3], hsv[i * 3], hsv[i * 3 + 1], hsv[i * 3 + 2]);

//: way loop over channels for the largest
//: body
float v = picture[i * 3], low = v;
int which = 0;
for (int c = 1; c < 3; c++) {
    float x = picture[i * 3 + c];
    if (x > v) v = x, which = c;
    if (x < low) low = x;
}
float d = v - low, h = 0;
if (d > 0) {
    h = 60 * (2 * which + (picture[i * 3 + (which + 1) % 3] - picture[i * 3 + (which + 2) % 3]) / d);
    if (h < 0) h += 360;
}
hsv[i * 3] = h;
hsv[i * 3 + 1] = v > 0 ? d / v : 0;
hsv[i * 3 + 2] = v;

//: way {y, x, c}
//: body
int width = picture.shape()[1];
int x = i % width, y = i / width;
float r = picture[{y, x, 0}], g = picture[{y, x, 1}], b = picture[{y, x, 2}];
float v = max(r, max(g, b)), low = min(r, min(g, b)), d = v - low, h = 0;
if (d > 0) {
    h = v == r ? 60 * (g - b) / d : v == g ? 60 * (b - r) / d + 120 : 60 * (r - g) / d + 240;
    if (h < 0) h += 360;
}
hsv[{y, x, 0}] = h;
hsv[{y, x, 1}] = v > 0 ? d / v : 0;
hsv[{y, x, 2}] = v;
