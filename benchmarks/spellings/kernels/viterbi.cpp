// clang-format off
// The best score of a path through 4 states in 16 steps, for each element: scores and transitions are added.

//: inputs raw float32 scores, raw float32 moves
//: outputs float32 best

//: way states in an array
//: body
float now[4];
for (int s = 0; s < 4; s++) now[s] = scores[i * 64 + s];
for (int t = 1; t < 16; t++) {
    float next[4];
    for (int s = 0; s < 4; s++) {
        float most = now[0] + moves[s];
        for (int r = 1; r < 4; r++) most = max(most, now[r] + moves[r * 4 + s]);
        next[s] = most + scores[i * 64 + t * 4 + s];
    }
    for (int s = 0; s < 4; s++) now[s] = next[s];
}
best = max(max(now[0], now[1]), max(now[2], now[3]));

//: way {i, t, s}
//: body
float now[4], next[4];
for (int s = 0; s < 4; s++) now[s] = scores[{i, 0, s}];
for (int t = 1; t < 16; t++) {
    for (int s = 0; s < 4; s++) {
        float most = -1e30f;
        for (int r = 0; r < 4; r++) {
            float value = now[r] + moves[{r, s}];
            if (value > most) most = value;
        }
        next[s] = most + scores[{i, t, s}];
    }
    for (int s = 0; s < 4; s++) now[s] = next[s];
}
best = now[0];
for (int s = 1; s < 4; s++) if (now[s] > best) best = now[s];

//: way written out
//: body
const float *p = &scores[i * 64], *m = &moves[0];
float n0 = p[0], n1 = p[1], n2 = p[2], n3 = p[3];
for (int t = 1; t < 16; ++t) {
    p += 4;
    float k0 = fmaxf(fmaxf(n0 + m[0], n1 + m[4]), fmaxf(n2 + m[8], n3 + m[12])) + p[0];
    float k1 = fmaxf(fmaxf(n0 + m[1], n1 + m[5]), fmaxf(n2 + m[9], n3 + m[13])) + p[1];
    float k2 = fmaxf(fmaxf(n0 + m[2], n1 + m[6]), fmaxf(n2 + m[10], n3 + m[14])) + p[2];
    float k3 = fmaxf(fmaxf(n0 + m[3], n1 + m[7]), fmaxf(n2 + m[11], n3 + m[15])) + p[3];
    n0 = k0, n1 = k1, n2 = k2, n3 = k3;
}
best = fmaxf(fmaxf(n0, n1), fmaxf(n2, n3));

//: way sizes as arguments, whole table
//: inputs raw float32 scores, raw float32 moves, int32 steps, int32 states
//: body
float table[16][4];
for (int s = 0; s < states; s++) table[0][s] = scores[i * steps * states + s];
for (int t = 1; t < steps; t++)
    for (int s = 0; s < states; s++) {
        float most = table[t - 1][0] + moves[s];
        for (int r = 1; r < states; r++) {
            float value = table[t - 1][r] + moves[r * states + s];
            most = value > most ? value : most;
        }
        table[t][s] = most + scores[(i * steps + t) * states + s];
    }
best = table[steps - 1][0];
for (int s = 1; s < states; s++) best = max(best, table[steps - 1][s]);

//: way helper for a step, two arrays in turn
//: preamble
template <int states>
__device__ void advance(const float *from, float *to, const float *moves, const float *scores) {
    for (int s = 0; s < states; ++s) {
        to[s] = from[0] + moves[s];
        for (int r = 1; r < states; ++r) to[s] = to[s] < from[r] + moves[r * states + s] ? from[r] + moves[r * states + s] : to[s];
        to[s] += scores[s];
    }
}
//: body
float one[4], two[4];
for (int s = 0; s < 4; ++s) one[s] = scores[i * 64 + s];
for (size_t t = 1; t < 16; ++t)
    if (t % 2) advance<4>(one, two, &moves[0], &scores[i * 64 + t * 4]);
    else advance<4>(two, one, &moves[0], &scores[i * 64 + t * 4]);
best = two[0];
for (float each : two) best = best > each ? best : each;
