// Threads around the functions in ISPC, with the arguments that peers.py passes.
#include "binary_search.h"
#include "black_scholes.h"
#include "hsv.h"
#include "local_mean.h"
#include "mandelbrot.h"
#include "nbody.h"
#include "patch_match.h"
#include "perceptron.h"
#include "runge_kutta.h"
#include "threads.h"

namespace {

int32_t narrow(int64_t x) { return static_cast<int32_t>(x); }

}  // namespace

extern "C" {

void run_patch_match(const float* a, const float* b, int64_t height, int64_t width, uint16_t* nnf, int64_t threads) {
  in_turns(height, threads, 1, [=](int64_t begin, int64_t end) {
    ispc::patch_match(a, b, narrow(height), narrow(width), nnf, narrow(begin), narrow(end));
  });
}

void run_perceptron(const float* x, const float* w1, const float* b1, const float* w2, const float* b2, int64_t n,
                    float* y, int64_t threads) {
  in_parts(n, threads,
           [=](int64_t begin, int64_t end) { ispc::perceptron(x, w1, b1, w2, b2, y, narrow(begin), narrow(end)); });
}

void run_mandelbrot(int64_t width, int64_t height, int64_t limit, int32_t* counts, int64_t threads) {
  const float step_x = static_cast<float>(3.0 / static_cast<double>(width));
  const float step_y = static_cast<float>(2.4 / static_cast<double>(height));
  in_turns(height, threads, 4, [=](int64_t begin, int64_t end) {
    ispc::mandelbrot(narrow(width), narrow(limit), step_x, step_y, counts, narrow(begin), narrow(end));
  });
}

void run_black_scholes(const float* price, const float* strike, const float* years, float rate, float volatility,
                       int64_t n, float* call, float* put, int64_t threads) {
  in_parts(n, threads, [=](int64_t begin, int64_t end) {
    ispc::black_scholes(price, strike, years, rate, volatility, call, put, narrow(begin), narrow(end));
  });
}

void run_nbody(const float* x, const float* y, const float* z, const float* mass, int64_t count, float* ax, float* ay,
               float* az, int64_t threads) {
  in_parts(count, threads, [=](int64_t begin, int64_t end) {
    ispc::nbody(x, y, z, mass, narrow(count), ax, ay, az, narrow(begin), narrow(end));
  });
}

void run_local_mean(const float* image, int64_t height, int64_t width, float* mean, int64_t threads) {
  in_turns(height, threads, 16, [=](int64_t begin, int64_t end) {
    ispc::local_mean(image, narrow(height), narrow(width), mean, narrow(begin), narrow(end));
  });
}

void run_hsv(const float* rgb, int64_t n, float* out, int64_t threads) {
  in_parts(n, threads, [=](int64_t begin, int64_t end) { ispc::hsv(rgb, out, narrow(begin), narrow(end)); });
}

void run_binary_search(const float* x, const float* table, int64_t entries, int64_t n, int32_t* places,
                       int64_t threads) {
  in_parts(n, threads, [=](int64_t begin, int64_t end) {
    ispc::binary_search(x, table, narrow(entries), places, narrow(begin), narrow(end));
  });
}

void run_runge_kutta(const float* x0, const float* y0, const float* z0, int64_t steps, float h, int64_t n, float* x1,
                     float* y1, float* z1, int64_t threads) {
  in_parts(n, threads, [=](int64_t begin, int64_t end) {
    ispc::runge_kutta(x0, y0, z0, narrow(steps), h, x1, y1, z1, narrow(begin), narrow(end));
  });
}

}  // extern "C"
