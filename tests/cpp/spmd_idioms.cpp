// Loops that people write in kernels, with random types and expressions in them.
#include "spmd_writer.h"

namespace iruka::testing {
namespace {

// $F, $I, $U: a float type, an integer type, uint32_t or uint64_t; $f, $k, $u: values of them; $s: an int in [0, 8);
// $c: a condition; $n: 2 to 7; $S: a random statement; #: a number of this use. Of the variables f#, k# and u# (of
// types $F, $I and $U) those that `results` names are seen by what follows.
struct Idiom {
  const char* results;
  const char* text;
};

constexpr Idiom kIdioms[] = {
    {"u", R"($U u# = $u;
u# ^= u# >> 15; u# *= ($U)0x85ebca6bu; u# ^= u# >> 13;
u# *= ($U)0xc2b2ae35u; u# ^= u# >> 16;)"},
    {"f", R"($F f# = $f, g# = ($F)(fabs($f) + 1);
for (int j# = 0; j# < 8; ++j#) {
  $F next# = ($F)((g# + ($F)(fabs(f#) / g#)) * ($F)0.5f);
  if (fabs(next# - g#) <= ($F)0.001f * next#) break;
  g# = next#;
}
f# = g#;)"},
    {"fk", R"($F a# = $f, b# = $f, f# = 0, g# = 0;
$I k# = 0;
while (k# < 12 && f# * f# + g# * g# < ($F)4) {
  $F t# = ($F)(f# * f# - g# * g# + a#);
  g# = ($F)(($F)2 * f# * g# + b#);
  f# = t#;
  ++k#;
})"},
    {"u", R"($U u# = $u, v# = $u;
while (v# != 0) {
  $U t# = u# % v#;
  u# = v#;
  v# = t#;
})"},
    {"k", R"(const $I table#[9] = {1, 3, 4, 9, 12, 20, 33, 60, 100};
const $I wanted# = $k;
int lo# = 0, hi# = 9;
while (lo# < hi#) {
  int mid# = lo# + hi# >> 1;
  if (table#[mid#] < wanted#) lo# = mid# + 1; else hi# = mid#;
}
$I k# = ($I)lo#;)"},
    {"f", R"($F d#[5] = {$f, $f, $f, $f, $f};
for (int a# = 1; a# < 5; ++a#) {
  $F held# = d#[a#];
  int b# = a#;
  for (; b# > 0 && d#[b# - 1] > held#; --b#) d#[b#] = d#[b# - 1];
  d#[b#] = held#;
}
$F f# = d#[$n % 5];)"},
    {"k", R"($I stack#[8] = {};
int top# = 0;
$I k# = $k;
for (int j# = 0; j# < 7; ++j#) {
  if ($c) {
    stack#[top#++ & 7] = ($I)(k# + ($I)j#);
  } else if (top# > 0) {
    k# = ($I)(k# ^ stack#[--top# & 7]);
  }
  top# = top# & 7;
})"},
    {"k", R"($I bins#[6] = {};
for (int j# = 0; j# < 9; ++j#) bins#[(uint32_t)($s * j# + ($k) + j#) % 6u] += 1;
int best# = 0;
for (int j# = 1; j# < 6; ++j#) {
  if (bins#[j#] > bins#[best#]) best# = j#;
}
$I k# = ($I)(best# * 10 + (int)bins#[best#]);)"},
    {"uk", R"($U u# = ($U)(($u & 63) + 1);
$I k# = 0;
while (u# != 1 && k# < 30) {
  u# = u# & 1 ? u# * 3 + 1 : u# >> 1;
  ++k#;
})"},
    {"u", R"($U u# = 0, rest# = $u;
do {
  u# += rest# % 10;
  rest# /= 10;
} while (rest# != 0);)"},
    {"fu", R"($U u# = $u;
$F f# = 0;
for (int j# = 0; j# < $n; ++j#) {
  u# = u# * ($U)1664525u + ($U)1013904223u;
  if ((u# >> 9 & 3) == 0) continue;
  f# += ($F)(int)(u# >> 8 & 1023) * ($F)0.25f;
})"},
    {"fk", R"($F best# = ($F)INFINITY, f# = $f;
$I k# = -1;
for (int j# = 0; j# < $n; ++j#) {
  $F sum# = 0;
  for (int w# = 0; w# < 3; ++w#) {
    $F gap# = ($F)(f# - ($F)(j# * 2 + w#));
    sum# += ($F)(gap# * gap#);
    if (sum# >= best#) break;
  }
  if (sum# < best#) {
    best# = sum#;
    k# = ($I)j#;
  }
}
f# = best#;)"},
    {"k", R"($I k# = $k;
for (int y# = 0; y# < $n; ++y#) {
  for (int x# = 0; x# < 4; ++x#) {
    if ($c) goto found#;
    k# += ($I)(x# * y# + 1);
  }
}
found#: k# ^= ($I)3;)"},
    {"f", R"(auto twist# = [&]($F a, $F b) -> $F {
  if (a < b) return ($F)(b - a);
  return ($F)(a * b + $f);
};
$F f# = twist#($f, twist#($f, $f));)"},
    {"k", R"(int state# = $s;
$I k# = 0;
for (int j# = 0; j# < 9; ++j#) {
  switch (state#) {
    case 0: state# = $c ? 1 : 2; break;
    case 1: k# += ($I)1; state# = 3; break;
    case 2: k# ^= $k;
    case 3: state# = (state# + j#) & 7; break;
    case 7: j# += 2; state# = 0; break;
    default: state# = (state# * 5 + 1) & 7;
  }
})"},
    {"k", R"($I k# = 0;
for ($U m# = $u; m# != 0; m# &= m# - 1) ++k#;)"},
    {"f", R"($F f# = $f, speed# = $f;
for (int j# = 0; j# < $n; ++j#) {
  const $F h# = ($F)0.125f;
  $F ka# = ($F)-f#, kb# = ($F)-(f# + h# * ka# * ($F)0.5f), kc# = ($F)-(f# + h# * kb# * ($F)0.5f), kd# = ($F)-(f# + h# * kc#);
  speed# += h# * (ka# + ($F)2 * kb# + ($F)2 * kc# + kd#) / ($F)6;
  f# += h# * speed#;
})"},
    {"u", R"(uint32_t w#[8] = {};
for (int j# = 0; j# < 8; ++j#) w#[j#] = (uint32_t)($u) + (uint32_t)j# * 0x9e3779b9u;
uint32_t a# = 0x6a09e667u, b# = 0xbb67ae85u;
for (int j# = 0; j# < 8; ++j#) {
  uint32_t s# = (a# >> 6 | a# << 26) ^ (a# >> 11 | a# << 21);
  uint32_t t# = b# + s# + w#[j#] + w#[(j# * 5 + 1) & 7];
  w#[j#] = t# ^ (t# >> 7 | t# << 25);
  b# = a#; a# = t#;
}
$U u# = ($U)(a# ^ b#);)"},
    {"f", R"(complex<float> z#((float)$f, (float)$f), c#((float)$f, 0.5f);
int j# = 0;
for (; j# < 6 && norm(z#) < 16.0f; ++j#) z# = z# * z# + c#;
$F f# = ($F)(z#.real() + (float)j#);)"},
    {"fk", R"(int exponent#;
$F whole#, fraction# = $f;
$F f# = frexp(fraction#, &exponent#);
fraction# = modf(fraction#, &whole#);
f# += fraction#;
$I k# = ($I)exponent#;)"},
    {"f", R"(float sine#, cosine#;
sincosf((float)$f, &sine#, &cosine#);
$F f# = ($F)(sine# * cosine#);)"},
    {"k", R"($I k# = 0;
bool found# = false;
for (int j# = 0; j# < $n && !found#; ++j#) {
  $S
  found# = $c;
  k# += ($I)(found# ? 100 : 1);
})"},
    {"f", R"($F m#[3][3] = {};
for (int r# = 0; r# < 3; ++r#)
  for (int q# = 0; q# < 3; ++q#) m#[r#][q#] = ($F)(r# == q# ? $f : ($F)(r# - q#));
$F s#[3] = {$f, $f, $f}, f# = 0;
for (int r# = 0; r# < 3; ++r#) {
  $F sum# = 0;
  for (int q# = 0; q# < 3; ++q#) sum# += m#[r#][q#] * s#[(q# + $s) % 3];
  f# += sum#;
})"},
    {"k", R"($I ring#[4] = {$k, $k, $k, $k}, copy#[4] = {};
for (int j# = 0; j# < 9; ++j#) ring#[j# & 3] = ($I)(ring#[(j# + 1) & 3] + ring#[(j# + $s) & 3]);
for (int j# = 0; j# < 4; ++j#) copy#[3 - j#] = ring#[j#];
$I k# = copy#[$s & 3];)"},
    {"u", R"($U u# = $u;
uint8_t bytes#[4] = {(uint8_t)u#, (uint8_t)(u# >> 8), (uint8_t)(u# >> 16), (uint8_t)(u# >> 24)};
u# = 0;
for (int j# = 0; j# < 4; ++j#) u# = u# * 31 + bytes#[(j# * 3 + $s) & 3];)"},
    {"k", R"($I k# = 0;
for (int j# = 0; j# < 5; ++j#) {
  if ($c) {
    if ($c) break;
    k# += ($I)2;
    continue;
  }
  for (int q# = 0; q# < 3; ++q#) {
    if ($c) {
      $S
      break;
    }
    k# += $k;
  }
  if ($c) k# ^= ($I)5; else k# -= ($I)1;
})"},
    {"fk", R"($F f# = $f;
$I k# = ($I)f#;
for (int j# = 0; j# < $n; ++j#) {
  f# = ($F)(f# * ($F)1.75f + ($F)0.5f);
  k# += ($I)(f# * ($F)0.5f);
})"},
    {"f", R"(struct V# {
  $F x, y;
  __device__ V# operator+(const V#& o) const { return {($F)(x + o.x), ($F)(y + o.y)}; }
  __device__ V# operator*($F s) const { return {($F)(x * s), ($F)(y * s)}; }
  __device__ $F dot(const V#& o) const { return ($F)(x * o.x + y * o.y); }
};
V# p# = {$f, $f}, d# = {$f, ($F)1};
for (int j# = 0; j# < $n; ++j#) {
  if (p#.dot(p#) > ($F)100) break;
  p# = p# + d# * ($F)0.5f;
}
$F f# = p#.dot(d#);)"},
    {"k", R"($I k# = $k;
for (int rounds# = 0;; ++rounds#) { if (rounds# >= 9) break;
  if (k# % 7 == 3) break;
  if ($c) {
    k# = ($I)(k# + 1);
    continue;
  }
  k# = ($I)(k# * 3 + ($I)rounds#);
})"},
    {"u", R"($U u# = 0;
{
  $U x# = $u, y# = $u;
  for (int bit# = 0; bit# < 16; ++bit#) {
    if (y# >> bit# & 1) u# ^= x# << bit#;
  }
})"},
};

void replace_all(std::string& text, const std::string& from, const std::function<std::string()>& to) {
  for (size_t at = text.find(from); at != text.npos;) {
    const std::string with = to();
    text.replace(at, from.size(), with);
    at = text.find(from, at + with.size());
  }
}

}  // namespace

std::string Writer::expand(const std::string& text, Dtype real, Dtype integer, Dtype word, const std::string& id) {
  std::string result = text;
  replace_all(result, "#", [&] { return id; });
  replace_all(result, "$F", [&] { return c_type(real); });
  replace_all(result, "$I", [&] { return c_type(integer); });
  replace_all(result, "$U", [&] { return c_type(word); });
  replace_all(result, "$n", [&] { return std::to_string(random_.between(2, 7)); });
  replace_all(result, "$f", [&] { return "(" + c_type(real) + ")(" + value(real, 1) + ")"; });
  replace_all(result, "$k", [&] { return "(" + c_type(integer) + ")(" + value(integer, 1) + ")"; });
  replace_all(result, "$u", [&] { return "(" + c_type(word) + ")(" + value(word, 1) + ")"; });
  replace_all(result, "$s", [&] { return small_integer(8); });
  replace_all(result, "$c", [&] { return condition(1); });
  return result;
}

void Writer::idiom() {
  const Idiom& chosen = random_.pick(kIdioms);
  constexpr Dtype kWords[] = {Dtype::uint32, Dtype::uint32, Dtype::uint64};
  const Dtype real = float_type(), integer = integer_type(), word = random_.pick(kWords);
  const std::string id = fresh("");
  const std::string_view text = chosen.text;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string one(text.substr(begin, end - begin));
    if (one.find("$S") != one.npos)
      nested(1);
    else
      line(expand(one, real, integer, word, id));
    begin = end + 1;
  }
  for (const char result : std::string_view(chosen.results)) {
    const Dtype type = result == 'f' ? real : result == 'k' ? integer : word;
    variables.push_back({result + id, type, true, 0});
  }
}

}  // namespace iruka::testing
