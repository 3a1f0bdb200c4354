// Index arrays, compaction and scatter_at: the kernels' texts for a GPU, run by an emulated device and compiled by
// NVRTC, compared with the CPU's code; and the C++ interface.
#include <gtest/gtest.h>

#include <complex>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "emulated_cuda.h"
#include "iruka/indexing.h"
#include "iruka/ops.h"
#include "nvrtc_testing.h"
#include "ops/index/compaction.h"

namespace {

using namespace iruka;
using namespace iruka::test;

/// Remembers the texts it is given to compile.
class RecordingCuda : public EmulatedCuda {
 public:
  CompiledProgram compile(const ProgramSource& source) override {
    texts.push_back(source.text);
    return EmulatedCuda::compile(source);
  }
  // What another thread does in between, once.
  void synchronize() override { call(during_wait); }
  // Waits for the stream's work, too.
  void copy(void* to, const void* from, size_t bytes) override {
    call(during_wait);
    EmulatedCuda::copy(to, from, bytes);
    call(after_copy);
  }
  std::vector<std::string> texts;
  std::function<void()> during_wait, after_copy;

 private:
  static void call(std::function<void()>& meanwhile) {
    if (const auto once = std::exchange(meanwhile, nullptr)) once();
  }
};

RecordingCuda& gpu() {
  static auto& device = *new RecordingCuda;
  return device;
}

/// A cache of their own, so that every text is compiled and thereby seen.
class OwnCache : public ::testing::Environment {
 public:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("iruka-test-indexing-" + std::to_string(getpid()));
    setenv("IRUKA_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_;
};
const auto* const kOwnCache = ::testing::AddGlobalTestEnvironment(new OwnCache);

class Indexing : public EmulatedDeviceTest {};

Array numbers(const Dims& shape, Dtype dtype) {
  return arange(count(shape)).astype(Dtype::int64).reshape(shape).astype(dtype);
}

Array indices(const Dims& shape, int64_t extent, Dtype dtype, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> values(static_cast<size_t>(count(shape)));
  for (int64_t& value : values) value = static_cast<int64_t>(random() % static_cast<uint64_t>(2 * extent)) - extent;
  return Array::from(std::span<const int64_t>(values), shape).astype(dtype);
}

Array mask_of(const Dims& shape, unsigned percent) {
  std::mt19937_64 random(percent + 1);
  const Array mask = Array::empty(shape, Dtype::bool_, cpu());
  for (int64_t k = 0; k < mask.size(); ++k) static_cast<bool*>(mask.data())[k] = random() % 100 < percent;
  return mask;
}

std::string bytes_of(const Array& x) {
  const Array host = &x.device() == &cpu() ? x.contiguous() : copy_to(cpu(), x);
  return {static_cast<const char*>(host.data()), static_cast<size_t>(host.nbytes())};
}

using Entries = std::vector<AnyIndex>;

/// The same index with its arrays on the emulated device.
Entries moved(const Entries& entries) {
  Entries result = entries;
  for (AnyIndex& entry : result)
    if (auto* array = std::get_if<Array>(&entry)) *array = copy_to(gpu(), *array);
  return result;
}

void compare(const Array& x, const Entries& entries) {
  const Array want = index(x, entries), got = index(copy_to(gpu(), x), moved(entries));
  ASSERT_EQ(want.shape(), got.shape());
  ASSERT_EQ(bytes_of(want), bytes_of(got)) << name(x.dtype()) << " " << to_string(x.shape());
  EXPECT_NO_THROW(check_indices(gpu()));
}

TEST_F(Indexing, GathersOfEveryDtypeAndForm) {
  const Dtype dtypes[] = {Dtype::bool_, Dtype::int16, Dtype::float32, Dtype::float64, Dtype::complex128};
  for (Dtype dtype : dtypes) {
    const Array x = numbers({6, 5, 8}, dtype);
    for (Dtype index_dtype : {Dtype::int32, Dtype::int64, Dtype::int8}) {
      compare(x, {indices({7}, 6, index_dtype)});
      compare(x, {Slice{}, indices({2, 3}, 5, index_dtype)});
      compare(x, {Ellipsis{}, indices({4}, 8, index_dtype)});
    }
    compare(x, {indices({3, 1}, 6, Dtype::int32), Slice{1, {}, 2}, indices({4}, 8, Dtype::int64)});
    compare(x, {indices({3}, 6, Dtype::int32), indices({3}, 5, Dtype::int64), indices({3}, 8, Dtype::int32)});
    compare(x, {mask_of({6, 5}, 40)});
    compare(x, {mask_of({6, 5, 8}, 40)});
    compare(x, {NewAxis{}, int64_t{2}, indices({2, 2}, 5, Dtype::int64), Slice{{}, {}, -1}});
    compare(x.reshape({-1}), {indices({1000}, 240, Dtype::int64)});
    compare(x, {mask_of({}, 100)});
    compare(x, {mask_of({}, 0)});
  }
}

TEST_F(Indexing, RowsOfEveryLengthAndAlignment) {
  for (int64_t row : {1, 2, 3, 4, 8, 13, 16, 48})
    for (Dtype dtype : {Dtype::uint8, Dtype::float32}) {
      const Array x = numbers({9, row + 1}, dtype);
      for (const Array& view : {x, x.at(Slice{}, Slice{1, {}, {}}), x.transpose(), x.at(Slice{{}, {}, -1})})
        compare(view, {indices({11}, view.shape(0), Dtype::int64)});
      // An unaligned view on the device itself.
      const Array at = indices({11}, 9, Dtype::int32), device = copy_to(gpu(), x), moved_at = copy_to(gpu(), at);
      const auto columns = [](const Array& y) { return y.at(Slice{}, Slice{1, {}, {}}); };
      EXPECT_EQ(bytes_of(take(columns(device), moved_at, 0)), bytes_of(take(columns(x), at, 0)));
      EXPECT_EQ(bytes_of(take(device.at(Slice{{}, {}, -1}), moved_at, 0)),
                bytes_of(take(x.at(Slice{{}, {}, -1}), at, 0)));
    }
}

TEST_F(Indexing, Scatters) {
  for (Dtype dtype : {Dtype::uint8, Dtype::float16, Dtype::float32, Dtype::float64, Dtype::complex128}) {
    const Array order = Array::from({5, 0, -2, 1}).astype(Dtype::int64);
    const struct {
      Entries entries;
      Dims values;
    } cases[] = {{{order}, {4, 8}},
                 {{order}, {8}},
                 {{order}, {}},
                 {{order, Slice{1, 5, {}}}, {4, 4}},
                 {{Slice{}, order.astype(Dtype::int32)}, {6, 4}},
                 {{order, order}, {4}},
                 {{mask_of({6}, 50)}, {1}},
                 {{mask_of({6, 8}, 50)}, {}}};
    for (const auto& test : cases) {
      Array host = numbers({6, 8}, dtype), device = copy_to(gpu(), host);
      const Array values = numbers(test.values, dtype);
      assign_index(host, test.entries, values);
      assign_index(device, moved(test.entries), copy_to(gpu(), values));
      ASSERT_EQ(bytes_of(host), bytes_of(device)) << name(dtype);
    }
  }
}

TEST_F(Indexing, TakePutAndAlongAxis) {
  const Array x = numbers({5, 7}, Dtype::float32), wild = (indices({20}, 40, Dtype::int64));
  for (IndexMode mode : {IndexMode::wrap, IndexMode::clip}) {
    EXPECT_EQ(bytes_of(take(x, wild, 1, mode)), bytes_of(take(copy_to(gpu(), x), copy_to(gpu(), wild), 1, mode)));
    EXPECT_EQ(bytes_of(take(x, wild, {}, mode)), bytes_of(take(copy_to(gpu(), x), copy_to(gpu(), wild), {}, mode)));
  }
  const Array order = argmax(x, Dims{1}, true);
  EXPECT_EQ(bytes_of(take_along_axis(x, order, 1)),
            bytes_of(take_along_axis(copy_to(gpu(), x), copy_to(gpu(), order), 1)));
  Array host = x.copy(), device = copy_to(gpu(), x);
  put_along_axis(host, order, numbers({1, 1}, Dtype::int8), 1);
  put_along_axis(device, copy_to(gpu(), order), copy_to(gpu(), numbers({1, 1}, Dtype::int8)), 1);
  const Array places = Array::from({3, 30, -1}).astype(Dtype::int64), two = numbers({2}, Dtype::float32);
  put(host, places, two);
  put(device, copy_to(gpu(), places), copy_to(gpu(), two));
  put(host.transpose(), places, two);
  put(device.transpose(), copy_to(gpu(), places), copy_to(gpu(), two));
  EXPECT_EQ(bytes_of(host), bytes_of(device));
}

TEST_F(Indexing, CompactionOfEveryLength) {
  for (int64_t size : {0, 1, 15, 16, 17, 4095, 4096, 4097, 70000})
    for (unsigned percent : {0U, 2U, 50U, 100U}) {
      const Array mask = mask_of({size}, percent), device = copy_to(gpu(), mask);
      ASSERT_EQ(bytes_of(flatnonzero(mask)), bytes_of(flatnonzero(device))) << size << " " << percent;
      if (size > 16)
        ASSERT_EQ(bytes_of(flatnonzero(mask.at(Slice{3, {}, {}}))), bytes_of(flatnonzero(device.at(Slice{3, {}, {}}))));
    }
  const Array x = numbers({30, 4, 50}, Dtype::float32).at(Slice{{}, {}, 2});
  EXPECT_EQ(bytes_of(nonzero(x)), bytes_of(nonzero(copy_to(gpu(), x))));
  EXPECT_EQ(nonzero(x).shape(), (Dims{3, x.size() - 1}));
  // More tiles than one block sums at once.
  const Array large = mask_of({ops::kMaskTile * 4100 + 5}, 1);
  EXPECT_EQ(bytes_of(flatnonzero(large)), bytes_of(flatnonzero(copy_to(gpu(), large))));
}

TEST_F(Indexing, ScatterAt) {
  const Array at = indices({300}, 6, Dtype::int64);
  for (const char* row : {"add", "subtract", "maximum", "minimum", "multiply", "logical_or"})
    for (Dtype dtype : {Dtype::bool_, Dtype::uint8, Dtype::int64, Dtype::float16, Dtype::float32, Dtype::complex64}) {
      const ElementwiseFunction function(row);
      if (dtype == Dtype::bool_ && function.name() == std::string("subtract")) continue;
      // The emulated device's atomic operations are the CPU's, which exchange no structure of two floats.
      if (dtype == Dtype::complex64 && row[0] != 'a' && row[0] != 's') continue;
      Array host = numbers({6, 2}, dtype), device = copy_to(gpu(), host);
      const Array values = (numbers({300, 2}, Dtype::int64).astype(Dtype::bool_)).astype(dtype);
      scatter_at(host, Entries{at}, function, &values);
      const Array moved_values = copy_to(gpu(), values);
      scatter_at(device, Entries{copy_to(gpu(), at)}, function, &moved_values);
      ASSERT_EQ(bytes_of(host), bytes_of(device)) << row << " " << name(dtype);
    }
  Array wide = copy_to(gpu(), numbers({4}, Dtype::complex128));
  const Array one = copy_to(gpu(), numbers({1}, Dtype::complex128)), first = copy_to(gpu(), Array::from({0}));
  scatter_at(wide, Entries{first}, add, &one);
  EXPECT_THROW(scatter_at(wide, Entries{first}, multiply, &one), TypeError);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const IndexError& error) {
    return error.what();
  }
  return "";
}

TEST_F(Indexing, TwoThreadsLoseNoIndexOutOfBounds) {
  const Array x = copy_to(gpu(), numbers({6, 5}, Dtype::float32));
  const auto use = [&x](int64_t bad) { index(x, Entries{copy_to(gpu(), Array::from({bad}).astype(Dtype::int64))}); };
  const auto found = [] { return message_of([] { check_indices(gpu()); }); };
  const std::string first = "index 7 is out of bounds for axis 0 with size 6";
  // Both threads wait for the device after the launch.
  use(7);
  std::string other;
  gpu().during_wait = [&] { other = found(); };
  EXPECT_EQ(found(), first);
  EXPECT_EQ(other, first);
  EXPECT_EQ(found(), "");
  // The other thread launches when the first one's error has been read.
  use(7);
  gpu().during_wait = [&] { gpu().after_copy = [&] { use(8); }; };
  EXPECT_EQ(found(), first);
  EXPECT_TRUE(found().starts_with("an index is out of bounds"));
  EXPECT_EQ(found(), "");
  use(9);
  EXPECT_EQ(found(), "index 9 is out of bounds for axis 0 with size 6");
  // The other thread launches when the first one, which finds no error of its own, has read the report.
  use(0);
  gpu().after_copy = [&] { use(-7); };
  EXPECT_EQ(found(), "");
  EXPECT_EQ(found(), "index -7 is out of bounds for axis 0 with size 6");
}

TEST_F(Indexing, OutOfBoundsOnTheGpuIsFoundWhenElementsCome) {
  const char* const words = "index -9 is out of bounds for axis 1 with size 5";
  const Array x = copy_to(gpu(), numbers({6, 5}, Dtype::float32));
  const Array bad = copy_to(gpu(), Array::from({1, -9}).astype(Dtype::int64));
  Array chosen;
  EXPECT_NO_THROW(chosen = index(x, Entries{Slice{}, bad}));
  EXPECT_EQ(message_of([] { check_indices(gpu()); }), words);
  EXPECT_EQ(message_of([] { check_indices(gpu()); }), "");  // reported once
  index(x, Entries{Slice{}, bad});
  EXPECT_EQ(message_of([&] { x.at(0, 0).item(); }), words);
  index(x, Entries{Slice{}, bad});
  EXPECT_EQ(message_of([&] { x.to_vector<float>(); }), words);
  index(x, Entries{Slice{}, bad});
  EXPECT_EQ(message_of([&] { x.to_device(cpu()); }), words);
  const Array one = copy_to(gpu(), numbers({1}, Dtype::float32));
  assign_index(x, Entries{Slice{}, bad}, one);
  EXPECT_EQ(message_of([] { check_indices(gpu()); }), words);
  scatter_at(x, Entries{Slice{}, bad}, add, &one);
  EXPECT_EQ(message_of([] { check_indices(gpu()); }), words);
  EXPECT_FALSE(set_immediate_index_check(true));
  EXPECT_EQ(message_of([&] { index(x, Entries{Slice{}, bad}); }), words);
  EXPECT_TRUE(set_immediate_index_check(false));
  EXPECT_EQ(message_of([&] { take(x.at(Slice{0, 0, {}}), bad, 0); }), "cannot do a non-empty take from an empty axes.");
  EXPECT_EQ(message_of([&] { index(x.at(Slice{0, 0, {}}), Entries{bad}); }),
            "index 1 is out of bounds for axis 0 with size 0");
}

TEST_F(Indexing, NothingIsWrittenBeforeABadIndexOnTheCpu) {
  const Array x = numbers({100000}, Dtype::float32), before = x.copy();
  Array at = arange(100000);
  at.at(99999).fill(100000);
  EXPECT_THROW(assign_index(x, Entries{at}, numbers({1}, Dtype::float32)), IndexError);
  EXPECT_EQ(bytes_of(x), bytes_of(before));
  EXPECT_EQ(message_of([&] { index(x, Entries{at}); }), "index 100000 is out of bounds for axis 0 with size 100000");
}

TEST_F(Indexing, MasksMayHoldAnyByte) {
  const Array mask = Array::empty({1000}, Dtype::bool_, cpu());
  for (int64_t k = 0; k < 1000; ++k)
    static_cast<uint8_t*>(mask.data())[k] = std::array<uint8_t, 5>{0, 1, 2, 128, 255}[k % 5];
  EXPECT_EQ(flatnonzero(mask).size(), 800);
  EXPECT_EQ(bytes_of(flatnonzero(mask)), bytes_of(flatnonzero(copy_to(gpu(), mask))));
}

TEST_F(Indexing, TextsCompileByNvrtc) {
  const Nvrtc* nvrtc = Nvrtc::find();
  if (!nvrtc) GTEST_SKIP() << "NVRTC is not installed";
  for (ops::CompactionStage stage :
       {ops::CompactionStage::count, ops::CompactionStage::scan, ops::CompactionStage::write})
    for (int architecture : {75, 80, 90, 100})
      if (nvrtc->supports(architecture)) {
        const auto output = nvrtc->compile(ops::compaction_text(stage), architecture);
        EXPECT_TRUE(output.ok) << output.log;
      }
  for (const Dtype dtype : {Dtype::bool_, Dtype::int16, Dtype::float32, Dtype::float64, Dtype::complex128})
    for (const Dtype kind : {Dtype::int32, Dtype::int64}) {
      const Array x = copy_to(gpu(), numbers({6, 7}, dtype)), at = copy_to(gpu(), arange(4).astype(kind));
      index(x, Entries{at});
      index(x, Entries{Slice{}, at});
      index(x, Entries{at, at});
      assign_index(x, Entries{at}, copy_to(gpu(), numbers({7}, dtype)));
    }
  size_t gathers = 0;
  for (size_t k = 0; k < gpu().texts.size(); ++k) {
    const std::string& text = gpu().texts[k];
    if (text.find("place_of") == std::string::npos || ++gathers % 4 != 0) continue;  // checks every fourth
    const int architecture = std::array{75, 80, 90, 100}[gathers / 4 % 4];
    if (!nvrtc->supports(architecture)) continue;
    const auto output = nvrtc->compile(text, architecture);
    EXPECT_TRUE(output.ok) << output.log << text;
  }
  EXPECT_GT(gathers, 20U);
}

}  // namespace
