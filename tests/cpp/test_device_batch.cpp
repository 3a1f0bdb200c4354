// Streams on which batches are made, over a driver in software.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

#include "backend/cuda/driver.h"
#include "core/device.h"
#include "error_of.h"
#include "fake_driver_test.h"
#include "iruka/cuda.h"
#include "iruka/device.h"
#include "iruka/error.h"
#include "pipeline/device_batch.h"

namespace iruka::pipeline {
namespace {

namespace fake = testing::fake_driver;
using test::error_of;
using testing::cu;

class BatchStreamTest : public testing::FakeDriverTest {
 protected:
  static Array numbers() { return Array::from<int32_t>({3, 1, 4, 1, 5}); }
  static Batch batch_of(const Array& array) {
    Batch batch;
    batch.outputs.push_back({.dense = array, .arrays = {}});
    return batch;
  }
};

TEST_F(BatchStreamTest, TakersGoOnBehindTheBatch) {
  BatchStream stream(gpu());
  const Stream taker(gpu(), {.non_blocking = true});
  const Array numbers_there = numbers().to_device(gpu());
  std::optional<Array> array;
  std::optional<Event> made;
  std::optional<Stream> own;
  {
    const StreamScope scope = stream.begin();
    own = Stream::foreign(gpu(), Stream::current(gpu()).handle());
    fake::hold(cu(*own));
    array = Array::empty({5}, Dtype::int32, gpu());
    array->assign(numbers_there);
    made = stream.made();
  }
  const StreamScope scope(taker);
  stream.publish(batch_of(*array), *made);
  const Array copy = array->copy();
  EXPECT_FALSE(taker.is_done());
  fake::let_go(cu(*own));
  const Array back = copy.to_device(cpu()), expected = numbers();
  EXPECT_TRUE(std::equal(static_cast<const int32_t*>(back.data()), static_cast<const int32_t*>(back.data()) + 5,
                         static_cast<const int32_t*>(expected.data())));
}

TEST_F(BatchStreamTest, MemoryIsReusedBehindTheTakersWork) {
  BatchStream stream(gpu());
  const Stream taker(gpu(), {.non_blocking = true});
  const auto make = [&] {
    const StreamScope scope = stream.begin();
    return Array::empty({1 << 20}, Dtype::float32, gpu());
  };
  Array array = make();
  const void* const memory = array.data();
  array = Array();
  array = make();
  EXPECT_EQ(array.data(), memory);  // nobody has taken it
  {
    const StreamScope scope(taker);
    stream.publish(batch_of(array), stream.made());
    fake::hold(cu(taker));
    gpu().fill(const_cast<void*>(memory), 0, 16);
  }
  array = Array();
  const Array other = make();
  EXPECT_NE(other.data(), memory);
  fake::let_go(cu(taker));
  EXPECT_EQ(make().data(), memory);
}

TEST_F(BatchStreamTest, MakersWaitForTakersThatAreFarBehind) {
  BatchStream stream(gpu());
  const Stream taker(gpu(), {.non_blocking = true});
  fake::hold(cu(taker));
  for (int k = 0; k < 3; ++k) {
    const StreamScope scope(taker);
    stream.publish({}, stream.made());
  }
  std::stop_source stop;
  std::thread stopped([&] {
    const StopScope scope(stop.get_token());
    EXPECT_NE(error_of<Interrupted>([&] { stream.begin(); }).find("nterrupted"), std::string::npos);
  });
  std::atomic<bool> has_begun{false};
  std::thread maker([&] {
    const StreamScope scope = stream.begin();
    has_begun = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  stop.request_stop();
  stopped.join();
  EXPECT_FALSE(has_begun);
  fake::let_go(cu(taker));
  maker.join();
  EXPECT_TRUE(has_begun);
}

TEST_F(BatchStreamTest, GraphsTakeNoBatches) {
  BatchStream stream(gpu());
  const Stream taker(gpu(), {.non_blocking = true});
  const Event made = stream.made();
  const StreamScope scope(taker);
  cuda::begin_capture(taker);
  EXPECT_NE(error_of<DeviceError>([&] { stream.publish({}, made); }).find("capture"), std::string::npos);
  cuda::cancel_capture(taker);
}

TEST_F(BatchStreamTest, HeadersOfFilesAreReadOnce) {
  const Array picture = Array::from<uint8_t>({1, 2, 3, 4, 5, 6}).reshape({2, 3});
  const std::vector<uint8_t> file = image::imencode("png", picture);
  const Array bytes = Array::from(std::span(file), {std::ssize(file)});
  const Value value = Value(bytes).decoded({.mode = image::ColorMode::gray}, "decode");
  std::fill_n(static_cast<char*>(bytes.data()), 8, '\0');
  Making making(value);
  Making* const makings[] = {&making};
  const Array out = Array::empty(making.shape(), making.dtype(), gpu());
  std::exception_ptr error;
  make_on_device(gpu(), makings, {&out, 1}, {&error, 1});
  EXPECT_FALSE(error);
  EXPECT_EQ(out.to_device(cpu()).to_vector<uint8_t>(), picture.to_vector<uint8_t>());
}

TEST_F(BatchStreamTest, OutputsOfTheCpuStayThere) {
  Graph graph(2);
  graph.set_outputs({0, 1, 0});
  const Array rows = Array::from<float>({1, 2, 3, 4, 5, 6}).reshape({3, 2}), labels = Array::from<int64_t>({7, 8, 9});
  Pipeline pipe(arrays({rows, labels}), graph, {.order = {.batch_size = 3}, .device = &gpu(), .cpu_outputs = {1, 2}});
  const std::optional<Batch> batch = pipe.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(&batch->outputs[0].dense.device(), &gpu());
  EXPECT_EQ(batch->outputs[0].dense.to_device(cpu()).to_vector<float>(), rows.to_vector<float>());
  for (const size_t output : {1, 2}) EXPECT_EQ(&batch->outputs[output].dense.device(), &cpu());
  EXPECT_EQ(batch->outputs[1].dense.to_vector<int64_t>(), labels.to_vector<int64_t>());
  EXPECT_EQ(batch->outputs[2].dense.to_vector<float>(), rows.to_vector<float>());
  const std::vector<Array> alone = pipe.sample(0, 1);
  EXPECT_EQ(&alone[0].device(), &gpu());
  EXPECT_EQ(alone[1].item<int64_t>(), 8);
  EXPECT_EQ(alone[2].to_vector<float>(), (std::vector<float>{3, 4}));
}

}  // namespace
}  // namespace iruka::pipeline
