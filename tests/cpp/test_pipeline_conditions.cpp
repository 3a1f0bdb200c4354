// Nodes that run for some samples alone, and the selection of a branch's value.
#include <gtest/gtest.h>

#include <atomic>

#include "error_of.h"
#include "iruka/pipeline.h"

namespace iruka::pipeline {
namespace {

using test::error_of;
using Numbers = std::vector<int64_t>;

/// A function of numbers that counts its calls.
OperationHandle counted(std::atomic<int>& calls, std::function<int64_t(int64_t)> of) {
  return function("counted", [&calls, of = std::move(of)](std::span<const Array> inputs, const SampleKey&, Draws&) {
    ++calls;
    return std::vector<Array>{Array::from<int64_t>({of(inputs[0].item<int64_t>())}).reshape({})};
  });
}

Numbers run(const Graph& graph, const Numbers& numbers) {
  const Array column = Array::from(std::span<const int64_t>(numbers), {std::ssize(numbers)});
  Pipeline pipe(arrays({column}), graph, {.order = {.batch_size = std::ssize(numbers)}, .prefetch = 0});
  const auto batch = pipe.next();
  return batch ? batch->outputs[0].dense.to_vector<int64_t>() : Numbers{};
}

TEST(Conditions, NodesRunForTheirSamplesAlone) {
  std::atomic<int> tests{0}, inner_tests{0}, halves{0}, triples{0}, others{0};
  Graph graph(1);
  const int is_even = graph.add(counted(tests, [](int64_t x) { return int64_t{x % 2 == 0}; }), {0});
  const Guard even{is_even, true}, odd{is_even, false};
  const int half = graph.add(counted(halves, [](int64_t x) { return x / 2; }), {0}, {}, {even});
  const int is_large = graph.add(counted(inner_tests, [](int64_t x) { return int64_t{x > 4}; }), {0}, {}, {odd});
  const int triple = graph.add(counted(triples, [](int64_t x) { return 3 * x; }), {0}, {}, {odd, {is_large, true}});
  const int other = graph.add(counted(others, [](int64_t x) { return -x; }), {0}, {}, {odd, {is_large, false}});
  const int of_odd = graph.select(is_large, triple, other, {odd});
  graph.set_outputs({graph.select(is_even, half, of_odd)});
  EXPECT_EQ(run(graph, {0, 1, 2, 3, 5, 8, 9}), (Numbers{0, -1, 1, -3, 15, 4, 27}));
  EXPECT_EQ(tests, 7);
  EXPECT_EQ(halves, 3);
  EXPECT_EQ(inner_tests, 4);
  EXPECT_EQ(triples, 2);
  EXPECT_EQ(others, 2);
}

TEST(Conditions, ASelectedPictureIsNotMadeBeforeItIsNeeded) {
  const Array pictures = Array::from<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).reshape({2, 2, 3});
  const Array flags = Array::from<uint8_t>({1, 0});
  Graph graph(2);
  const int flipped = graph.add(stages({image::Flip{}}), {0}, {}, {{1, true}});
  const int either = graph.select(1, flipped, 0);
  graph.set_outputs({graph.add(stages({image::Normalize{.mean = {1}, .deviation = {1}}}), {either})});
  Pipeline pipe(arrays({pictures, flags}), graph, {.order = {.batch_size = 2}});
  EXPECT_EQ(pipe.next()->outputs[0].dense.to_vector<float>(),
            (std::vector<float>{2, 1, 0, 5, 4, 3, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(pipe.sample(0, 1)[0].to_vector<float>(), (std::vector<float>{6, 7, 8, 9, 10, 11}));
}

TEST(Conditions, ThatNoSampleCouldMeetAreRefused) {
  Graph graph(2);
  const OperationHandle flip = stages({image::Flip{}});
  const int inside = graph.add(flip, {0}, {}, {{1, true}});
  const std::string message = "pipeline: value 2 is made for some samples alone, those where value 1 is not 0";
  const auto refused = [&](auto add) { return error_of<ValueError>(add); };
  EXPECT_EQ(refused([&] { graph.add(flip, {inside}); }), message);
  EXPECT_EQ(refused([&] { graph.add(flip, {inside}, {}, {{1, false}}); }), message);
  EXPECT_EQ(refused([&] { graph.add(flip, {0}, {}, {{inside, true}}); }), message);
  EXPECT_EQ(refused([&] { graph.select(1, 0, inside); }), message);
  EXPECT_EQ(refused([&] { graph.select(inside, 0, 0); }), message);
  EXPECT_EQ(refused([&] { graph.set_outputs({inside}); }), message);
  EXPECT_EQ(refused([&] { graph.add(flip, {0}, {}, {{7, true}}); }), "pipeline: there is no value 7 in a graph of 3");
  EXPECT_EQ(graph.values(), 3);
  graph.add(flip, {inside}, {}, {{1, true}, {0, true}});
  graph.set_outputs({graph.select(1, inside, 0)});
}

TEST(Conditions, AreOneNumber) {
  Graph graph(1);
  graph.set_outputs({graph.select(0, 0, 0)});
  Pipeline pipe(arrays({Array::from<int64_t>({1, 2, 3, 4}).reshape({2, 2})}), graph, {});
  EXPECT_EQ(error_of<TypeError>([&] { pipe.next(); }),
            "a parameter or a condition is one number, not an array of shape (2,)");
}

}  // namespace
}  // namespace iruka::pipeline
