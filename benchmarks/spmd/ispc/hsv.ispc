static inline void convert(float r, float g, float b, float& hue, float& saturation, float& high) {
  high = max(r, max(g, b));
  const float range = high - min(r, min(g, b));
  hue = 0;
  if (range > 0) {
    if (high == r)
      hue = (g - b) / range + (g < b ? 6.0f : 0.0f);
    else if (high == g)
      hue = (b - r) / range + 2;
    else
      hue = (r - g) / range + 4;
  }
  hue *= 60;
  saturation = high > 0 ? range / high : 0;
}

export void hsv(uniform const float rgb[], uniform float out[], uniform int begin, uniform int end) {
  uniform int k = begin;
  for (; k + programCount <= end; k += programCount) {  // whole vectors, taken apart and put together by shuffles
    float r, g, b, hue, saturation, value;
    aos_to_soa3((uniform float * uniform)&rgb[k * 3], &r, &g, &b);
    convert(r, g, b, hue, saturation, value);
    soa_to_aos3(hue, saturation, value, &out[k * 3]);
  }
  foreach (i = k ... end) {
    float hue, saturation, value;
    convert(rgb[i * 3], rgb[i * 3 + 1], rgb[i * 3 + 2], hue, saturation, value);
    out[i * 3] = hue;
    out[i * 3 + 1] = saturation;
    out[i * 3 + 2] = value;
  }
}
