inline A shuffle_up(A value, int distance) {
  unsigned parts[sizeof(A) / 4];
  memcpy(parts, &value, sizeof(A));
#pragma unroll
  for (unsigned k = 0; k < sizeof(A) / 4; ++k) parts[k] = __shfl_up_sync(0xffffffffu, parts[k], distance);
  memcpy(&value, parts, sizeof(A));
  return value;
}
inline A last_lane(A value) {
  unsigned parts[sizeof(A) / 4];
  memcpy(parts, &value, sizeof(A));
#pragma unroll
  for (unsigned k = 0; k < sizeof(A) / 4; ++k) parts[k] = __shfl_sync(0xffffffffu, parts[k], 31);
  memcpy(&value, parts, sizeof(A));
  return value;
}
inline A warp_scan(A value, int lane) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const A before = shuffle_up(value, distance);
    if (lane >= distance) value = combine(before, value);
  }
  return value;
}
