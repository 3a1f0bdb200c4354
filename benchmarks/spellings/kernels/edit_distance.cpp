// clang-format off
// The edit distance of two words of 12 letters for each element.

//: inputs raw uint8 a, raw uint8 b
//: outputs int32 distance

//: way one row, 12 in the text
//: body
int row[13];
for (int k = 0; k <= 12; k++) row[k] = k;
for (int p = 1; p <= 12; p++) {
    int diagonal = row[0];
    row[0] = p;
    for (int q = 1; q <= 12; q++) {
        int cost = a[i * 12 + p - 1] == b[i * 12 + q - 1] ? 0 : 1;
        int next = min(min(row[q] + 1, row[q - 1] + 1), diagonal + cost);
        diagonal = row[q];
        row[q] = next;
    }
}
distance = row[12];

//: way whole table
//: body
int table[13][13];
for (int k = 0; k <= 12; k++) table[0][k] = table[k][0] = k;
for (int p = 1; p <= 12; p++)
    for (int q = 1; q <= 12; q++) {
        int cost = a[{i, p - 1}] != b[{i, q - 1}];
        table[p][q] = min(min(table[p - 1][q] + 1, table[p][q - 1] + 1), table[p - 1][q - 1] + cost);
    }
distance = table[12][12];

//: way two rows exchanged
//: preamble
#include <utility>
//: body
int first[13], second[13];
int *above = first, *here = second;
for (int k = 0; k <= 12; ++k) above[k] = k;
for (int p = 0; p < 12; ++p) {
    here[0] = p + 1;
    for (int q = 0; q < 12; ++q) {
        if (a[i * 12 + p] == b[i * 12 + q]) here[q + 1] = above[q];
        else here[q + 1] = 1 + min(above[q], min(above[q + 1], here[q]));
    }
    std::swap(above, here);
}
distance = above[12];

//: way length as an argument
//: inputs raw uint8 a, raw uint8 b, int32 length
//: body
int row[32];
for (int k = 0; k <= length; k++) row[k] = k;
for (int p = 1; p <= length; p++) {
    int diagonal = row[0];
    row[0] = p;
    for (int q = 1; q <= length; q++) {
        int old = row[q];
        int best = diagonal;
        if (a[i * length + p - 1] != b[i * length + q - 1]) {
            if (old < best) best = old;
            if (row[q - 1] < best) best = row[q - 1];
            best++;
        }
        row[q] = best;
        diagonal = old;
    }
}
distance = row[length];

//: way words copied, bytes in the row
//: preamble
__device__ int least(int x, int y, int z) { return x < y ? (x < z ? x : z) : (y < z ? y : z); }
//: body
unsigned char s[12], t[12], row[13];
for (int k = 0; k < 12; k++) s[k] = a[i * 12 + k], t[k] = b[i * 12 + k];
for (int k = 0; k < 13; k++) row[k] = k;
for (int p = 0; p < 12; p++) {
    unsigned char left = p + 1, diagonal = p;
    for (int q = 0; q < 12; q++) {
        unsigned char above = row[q + 1];
        unsigned char here = least(above + 1, left + 1, diagonal + (s[p] != t[q]));
        row[q] = left;
        diagonal = above;
        left = here;
    }
    row[12] = left;
}
distance = row[12];

//: way helper with pointers and while
//: preamble
__device__ int edit_distance(const unsigned char *s, const unsigned char *t, int n) {
    int row[13], p = 0;
    for (int k = 0; k <= n; ++k) row[k] = k;
    while (p < n) {
        int diagonal = row[0], q = 0;
        row[0] = ++p;
        while (q < n) {
            int above = row[q + 1];
            int best = diagonal + (s[p - 1] == t[q] ? 0 : 1);
            if (above + 1 < best) best = above + 1;
            if (row[q] + 1 < best) best = row[q] + 1;
            row[++q] = best;
            diagonal = above;
        }
    }
    return row[n];
}
//: body
distance = edit_distance(&a[i * 12], &b[i * 12], 12);
