// Pipelines of the C++ interface: sources, values, graphs, and batches that depend on neither threads nor resuming.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "error_of.h"
#include "iruka/iruka.h"
#include "iruka/pipeline.h"

namespace {

namespace fs = std::filesystem;
namespace image = iruka::image;
using iruka::Array;
using iruka::Dims;
using iruka::Dtype;
using iruka::TypeError;
using iruka::ValueError;
using iruka::test::error_of;
using namespace iruka::pipeline;
using Indices = std::vector<int64_t>;

/// A folder that is removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> count{0};
    path_ =
        fs::temp_directory_path() / ("iruka_pipeline_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

/// A smooth picture whose size and colours follow from `number`.
Array picture(int64_t number) {
  const int64_t height = 30 + 3 * number, width = 50 - number;
  std::vector<uint8_t> values;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < 3; ++c)
        values.push_back(static_cast<uint8_t>((y * 3 + x * (5 - c) + 40 * c + number) % 251));
    }
  }
  return Array::from(std::span<const uint8_t>(values), {height, width, 3});
}

std::vector<std::string> write_pictures(const TemporaryFolder& folder, int64_t count) {
  std::vector<std::string> paths;
  for (int64_t k = 0; k < count; ++k) {
    paths.push_back(folder / (std::to_string(k) + ".png"));
    image::imwrite(paths.back(), picture(k));
  }
  return paths;
}

void cut_short(const std::string& path) { fs::resize_file(path, fs::file_size(path) / 2); }

/// Sample k is (k, k * k), or an error for the numbers in `bad`.
class Numbers : public Source {
 public:
  explicit Numbers(int64_t size, Indices bad = {}) : size_(size), bad_(std::move(bad)) {}
  int64_t size() const override { return size_; }
  int values() const override { return 2; }
  std::vector<Value> sample(int64_t index) const override {
    if (std::ranges::find(bad_, index) != bad_.end()) throw ValueError("no number " + std::to_string(index));
    return {scalar(index), scalar(index * index)};
  }
  static Value scalar(int64_t number) { return Array::from<int64_t>({number}).reshape({}); }

 private:
  int64_t size_;
  Indices bad_;
};

Graph pass_on() {
  Graph graph(2);
  graph.set_outputs({0, 1});
  return graph;
}

/// The numbers of each batch until the end of the epoch.
std::vector<Indices> epoch_of(Pipeline& pipe) {
  std::vector<Indices> batches;
  while (const auto batch = pipe.next()) {
    batches.push_back(batch->outputs[0].dense.to_vector<int64_t>());
    EXPECT_EQ(batch->indices, batches.back());
    Indices squares;
    for (const int64_t k : batch->indices) squares.push_back(k * k);
    EXPECT_EQ(batch->outputs[1].dense.to_vector<int64_t>(), squares);
  }
  return batches;
}

TEST(Sources, FilesHaveTheirLabels) {
  const auto source = files({"a.png", "b.png"}, {7, 3});
  EXPECT_EQ(source->size(), 2);
  EXPECT_EQ(source->values(), 2);
  EXPECT_EQ(source->sample(1)[0].path(), "b.png");
  EXPECT_EQ(source->sample(1)[1].number(), 3);
  EXPECT_EQ(source->sample(1)[1].result().second, Dtype::int64);
  EXPECT_EQ(source->describe(0), "a.png");
  EXPECT_EQ(files({"a.png"})->values(), 1);
  EXPECT_EQ(error_of<ValueError>([] { files({}); }), "files: there are no files");
  EXPECT_EQ(error_of<ValueError>([] { files({"a", "b"}, {1}); }), "files: there are 2 files and 1 labels");
}

TEST(Sources, FoldersAreClasses) {
  const TemporaryFolder folder;
  for (const char* name : {"dog", "cat", "empty"}) fs::create_directory(folder / name);
  for (const char* name : {"dog/2.JPG", "dog/1.png", "cat/3.webp", "cat/notes.txt", "cat/none", "top.png"})
    std::ofstream(folder / name) << "contents";
  const Folder found = list_folder(folder / "");
  EXPECT_EQ(found.classes, (std::vector<std::string>{"cat", "dog", "empty"}));
  EXPECT_EQ(found.labels, (Indices{0, 1, 1}));
  std::vector<std::string> names;
  names.reserve(found.paths.size());
  for (const std::string& path : found.paths) names.push_back(fs::path(path).filename().string());
  EXPECT_EQ(names, (std::vector<std::string>{"3.webp", "1.png", "2.JPG"}));
  EXPECT_TRUE(list_folder(folder / "empty").paths.empty());
  EXPECT_EQ(list_folder(folder / "", {"txt"}).labels, (Indices{0}));
  EXPECT_EQ(error_of<iruka::SystemFileError>([&] { list_folder(folder / "missing"); }),
            "folder: cannot read '" + (folder / "missing") + "': No such file or directory");
}

TEST(Values, PicturesAreMadeWhenTheyAreNeeded) {
  const TemporaryFolder folder;
  const std::string path = write_pictures(folder, 1)[0];
  cut_short(path);
  const Value whole = Value::of_file(path).decoded({}, "decode");
  EXPECT_EQ(whole.result(), (std::pair{Dims{30, 50, 3}, Dtype::uint8}));
  const image::Stage stages[] = {image::Resize{.height = 8, .width = 9}, image::Cast{}, image::ToLayout{}};
  const Value small = whole.with(stages, image::Layout::hwc);
  EXPECT_EQ(small.result(), (std::pair{Dims{3, 8, 9}, Dtype::float32}));
  EXPECT_EQ(small.size(), (std::pair<int64_t, int64_t>{8, 9}));
  const std::string error = error_of<ValueError>([&] { small.array(); });
  EXPECT_NE(error.find(path), std::string::npos) << error;
}

TEST(Values, PixelsAreThoseOfSeparateCalls) {
  const TemporaryFolder folder;
  const std::string path = write_pictures(folder, 1)[0];
  const std::vector<image::Stage> stages = {image::Resize{.height = 16, .width = 12}, image::Flip{}};
  const Value made = Value::of_file(path).decoded({}, "decode").with(stages, image::Layout::hwc);
  const std::vector<uint8_t> expected = image::Chain(stages)(picture(0)).to_vector<uint8_t>();
  EXPECT_EQ(made.array().to_vector<uint8_t>(), expected);
  const Array out = Array::empty({16, 12, 3}, Dtype::uint8);
  made.into(out);
  EXPECT_EQ(out.to_vector<uint8_t>(), expected);
}

TEST(Values, HaveTheirRowsFirst) {
  const auto crop = [](Dims shape, std::optional<image::Layout> layout = {}) {
    const image::Stage stage = image::Crop{.height = 1, .width = 1};
    return Value(Array::empty(shape, Dtype::uint8)).with({&stage, 1}, layout).array().shape();
  };
  for (const Dims& planes : {Dims{3, 32, 32}, Dims{1, 5, 5}, Dims{4, 9, 7}}) {
    EXPECT_EQ(
        error_of<ValueError>([&] { crop(planes); }),
        "a picture's axes are (height, width, channels), HWC, and " + iruka::to_string(planes) +
            " looks like CHW: give np.moveaxis(array, -3, -1), or the stages as image.Chain(stages, 'CHW'); if it is "
            "HWC, image.Chain(stages, 'HWC') says so");
    EXPECT_EQ(crop(planes, image::Layout::hwc), (Dims{1, 1, planes[2]}));
    EXPECT_EQ(crop(planes, image::Layout::chw), (Dims{planes[0], 1, 1}));
  }
  EXPECT_EQ(crop({32, 32, 5}), (Dims{1, 1, 5}));
  EXPECT_EQ(crop({3, 32, 4}), (Dims{1, 1, 4}));
  EXPECT_EQ(crop({1, 1, 64}), (Dims{1, 1, 64}));
  EXPECT_EQ(crop({3, 32}), (Dims{1, 1}));
}

TEST(Values, SayWhichTextIsNoFile) {
  const auto decode = [](const std::string& text) {
    const Array bytes = Array::from(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()),
                                    {static_cast<int64_t>(text.size())});
    return error_of<ValueError>([&] { Value(bytes).decoded({}, "decode").array(); });
  };
  EXPECT_TRUE(decode("cats/1.jpg").starts_with("decode: the text 'cats/1.jpg' (a file's name is a pathlib.Path): "));
  EXPECT_TRUE(decode("no\tpicture").starts_with("decode: no JPEG"));
  EXPECT_TRUE(decode(std::string(300, 'a')).starts_with("decode: no JPEG"));
}

TEST(Values, SayWhatTheyAreNot) {
  const Value file = Value::of_file("a.png");
  EXPECT_EQ(error_of<TypeError>([&] { file.with({}, image::Layout::hwc); }),
            "'a.png' is a file: Decode() comes before other stages");
  EXPECT_EQ(
      error_of<TypeError>([&] { file.array(); }),
      "'a.png' is a file: a pipeline needs Decode() to make a picture of it, before what takes it (lists of fields "
      "run in the order of their mapping)");
  EXPECT_EQ(error_of<TypeError>([] { Value(Array::from<float>({1, 2})).decoded({}, "decode"); }),
            "decode: the bytes of a file are a uint8 array of one axis, not float32 of shape (2,)");
  EXPECT_EQ(error_of<TypeError>([] { Value(Array::from<float>({1, 2})).number(); }),
            "a parameter or a condition is one number, not an array of shape (2,)");
  EXPECT_EQ(Value::of_number(2.5).number(), 2.5);
}

TEST(Graphs, RefuseValuesThatThereAreNot) {
  Graph graph(1);
  EXPECT_EQ(graph.add(decode(), {0}), 1);
  EXPECT_EQ(error_of<ValueError>([&] { graph.add(decode(), {2}); }), "pipeline: there is no value 2 in a graph of 2");
  EXPECT_EQ(error_of<ValueError>([&] { graph.add(decode(), {-1}); }), "pipeline: there is no value -1 in a graph of 2");
  EXPECT_EQ(error_of<ValueError>([&] { graph.add(nullptr, {0}); }), "pipeline: a node needs an operation");
  EXPECT_EQ(error_of<ValueError>([&] { graph.set_outputs({}); }), "pipeline: a graph needs an output");
  EXPECT_EQ(error_of<ValueError>([&] { graph.set_outputs({0, 5}); }), "pipeline: there is no value 5 in a graph of 2");
  EXPECT_EQ(graph.values(), 2);  // unchanged by what was refused
}

TEST(Operations, RefuseWhatNoSampleCouldPass) {
  const auto message = [](auto make) { return error_of<ValueError>(make); };
  const Parameter number{};
  EXPECT_EQ(message([&] { stages({image::Flip{}}, {{.stage = 1, .field = "flip.horizontal", .parameter = number}}); }),
            "pipeline: there is no stage 1 of 1");
  EXPECT_EQ(message([&] { stages({image::Flip{}}, {{.stage = 0, .field = "rotate.angle", .parameter = number}}); }),
            "pipeline: 'rotate.angle' is no number of this stage that can change from sample to sample");
  EXPECT_EQ(
      message([&] { stages({image::Crop{}}, {{.stage = 0, .field = "crop.at", .element = 2, .parameter = number}}); }),
      "pipeline: crop.at has 2 numbers, so none 2");
  EXPECT_EQ(message([&] {
              const Parameter bad{.distribution = {.kind = Distribution::Kind::uniform, .first = 2, .second = 1}};
              stages({image::Rotate{}}, {{.stage = 0, .field = "rotate.angle", .parameter = bad}});
            }),
            "pipeline: rotate.angle: a uniform distribution goes from low to high, not 2 and 1");
  EXPECT_EQ(message([&] { crop_at(0, 4, number, number); }), "crop: the size must be positive, not (0, 4)");
  EXPECT_EQ(message([] { random_resized_crop({.resize = {}, .least_area = 0.5, .most_area = 0.2}); }),
            "random_resized_crop: areas are parts of the picture, 0 < least <= most <= 1, not 0.5 and 0.2");
  EXPECT_EQ(message([] { random_resized_crop({.resize = {}, .least_ratio = 0}); }),
            "random_resized_crop: ratios of width to height go from low to high, both positive, not 0 and "
            "1.3333333333333333");
  EXPECT_EQ(message([] { one_of({{}}, {0.5, 0.5}); }), "one_of: there are 1 choices and 2 probabilities");
  EXPECT_EQ(message([] { one_of({{}}, {2}); }), "one_of: a probability is 0 to 1, not 2");
  EXPECT_EQ(message([] { one_of({{}, {}}, {0.7, 0.7}); }), "one_of: the probabilities sum to 1.4, more than 1");
  EXPECT_EQ(message([] { function("f", {}, 0); }), "pipeline: a function has at least 1 output, not 0");
}

TEST(Options, OfNoPipelineAreRefused) {
  const auto message = [](const Options& options, Graph graph) {
    return error_of<ValueError>([&] { Pipeline(std::make_shared<Numbers>(5), graph, options); });
  };
  EXPECT_EQ(message({.order = {.batch_size = 0}}, pass_on()), "pipeline: batch_size is at least 1, not 0");
  EXPECT_EQ(message({.order = {}, .threads = -1}, pass_on()), "pipeline: threads is at least 1, or 0 for all, not -1");
  EXPECT_EQ(message({.order = {}, .prefetch = -1}, pass_on()), "pipeline: prefetch is a number of batches, not -1");
  for (const int output : {-1, 2})
    EXPECT_EQ(message({.cpu_outputs = {output}}, pass_on()),
              "pipeline: there is no output " + std::to_string(output) + " of 2 that could stay on the CPU");
  EXPECT_EQ(message({}, Graph(2)), "pipeline: the graph has no outputs");
  Graph one(1);
  one.set_outputs({0});
  EXPECT_EQ(message({}, one), "pipeline: the source gives 2 values and the graph takes 1");
}

TEST(Batches, ComeInOrderAndEndEachEpoch) {
  for (const int prefetch : {0, 1, 2, 5}) {
    Pipeline pipe(std::make_shared<Numbers>(10), pass_on(), {.order = {.batch_size = 4}, .prefetch = prefetch});
    EXPECT_EQ(pipe.batches(), 3);
    EXPECT_EQ(pipe.samples(), 10);
    const std::vector<Indices> expected{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}};
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      EXPECT_EQ(pipe.state().epoch, epoch);
      EXPECT_EQ(epoch_of(pipe), expected);
    }
  }
}

/// Counts how often it is asked for its size, which every epoch does.
class Counted : public Numbers {
 public:
  using Numbers::Numbers;
  int64_t size() const override {
    ++asked;
    return Numbers::size();
  }
  mutable std::atomic<int> asked{0};
};

TEST(Batches, OfEpochsWithoutAnyAreNotMadeAheadForEver) {
  for (const int64_t size : {0, 3}) {
    const auto source = std::make_shared<Counted>(size);
    Pipeline pipe(source, pass_on(), {.order = {.batch_size = 4, .last_batch = LastBatch::drop}});
    EXPECT_EQ(pipe.batches(), 0);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      EXPECT_EQ(pipe.state().epoch, epoch);
      EXPECT_FALSE(pipe.next());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_LT(source->asked, 20);
  }
}

/// Pictures whose every stage draws, with the number of the sample and a number that is drawn beside.
struct Augmented {
  TemporaryFolder folder;
  std::shared_ptr<Source> source;
  Graph graph{2};
  Options options{.order = {.shuffle = true, .seed = 7, .batch_size = 8}};

  Augmented() {
    const std::vector<std::string> paths = write_pictures(folder, 21);
    Indices labels(paths.size());
    std::iota(labels.begin(), labels.end(), int64_t{100});
    source = files(paths, labels);
    const auto uniform = [](double low, double high) {
      return Parameter{.distribution = {.kind = Distribution::Kind::uniform, .first = low, .second = high}};
    };
    const int decoded = graph.add(decode(), {0});
    const int part = graph.add(random_resized_crop({.resize = image::Resize{.height = 24, .width = 20}}), {decoded});
    const int factor = graph.add(draw({.kind = Distribution::Kind::normal, .first = 1, .second = 0.2}), {});
    const int changed = graph.add(stages({image::Rotate{}, image::Brightness{}},
                                         {{.stage = 0, .field = "rotate.angle", .parameter = uniform(-20, 20)},
                                          {.stage = 1, .field = "brightness.factor", .parameter = {.input = 1}}}),
                                  {part, factor});
    const int cut = graph.add(crop_at(16, 16, uniform(0, 1), uniform(0, 1)), {changed});
    const int perhaps = graph.add(one_of({{stages({image::Flip{}})}}, {0.5}), {cut});
    graph.set_outputs({graph.add(stages({image::Normalize{.mean = {127}, .deviation = {64}}}), {perhaps}), 1, factor});
  }
};

/// A batch in a form that compares.
struct Contents {
  Indices indices, labels;
  std::vector<float> pixels, factors;
  bool operator==(const Contents&) const = default;
};

Contents contents_of(const Batch& batch) {
  EXPECT_EQ(batch.outputs[0].dense.shape(), (Dims{std::ssize(batch.indices), 16, 16, 3}));
  return {batch.indices, batch.outputs[1].dense.to_vector<int64_t>(), batch.outputs[0].dense.to_vector<float>(),
          batch.outputs[2].dense.to_vector<float>()};
}

std::vector<Contents> run(Pipeline& pipe, int epochs) {
  std::vector<Contents> made;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    while (const auto batch = pipe.next()) made.push_back(contents_of(*batch));
  }
  return made;
}

/// The library's number of threads while it lives.
class Threads {
 public:
  explicit Threads(int count) : before_(iruka::thread_count()) { iruka::set_thread_count(count); }
  ~Threads() { iruka::set_thread_count(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

TEST(Batches, AreTheSameForAnyThreads) {
  const Augmented given;
  Options alone = given.options;
  alone.prefetch = 0;
  alone.is_serial = true;
  Pipeline reference(given.source, given.graph, alone);
  const std::vector<Contents> expected = run(reference, 2);
  ASSERT_EQ(expected.size(), 6u);
  EXPECT_NE(expected[0].indices, expected[3].indices);
  for (const int count : {1, 2, 8}) {
    const Threads threads(count);
    for (const int prefetch : {0, 2, 4}) {
      Options options = given.options;
      options.prefetch = prefetch;
      Pipeline pipe(given.source, given.graph, options);
      EXPECT_TRUE(run(pipe, 2) == expected) << count << " threads, prefetch " << prefetch;
    }
  }
}

TEST(Batches, ResumeAtAnyPlace) {
  const Augmented given;
  Pipeline reference(given.source, given.graph, given.options);
  std::vector<State> states{reference.state()};
  std::vector<Contents> expected;
  for (int epoch = 0; epoch < 2; ++epoch) {
    while (const auto batch = reference.next()) {
      expected.push_back(contents_of(*batch));
      states.push_back(reference.state());
    }
  }
  Pipeline other(given.source, given.graph, given.options);
  for (size_t k = expected.size(); k-- > 0;) {
    other.restore(states[k]);
    auto batch = other.next();
    if (!batch) batch = other.next();  // the state was behind the last batch of its epoch
    ASSERT_TRUE(batch && contents_of(*batch) == expected[k]) << k;
  }
}

TEST(Batches, SamplesAreThoseOfRandomAccess) {
  const Augmented given;
  Pipeline pipe(given.source, given.graph, given.options);
  for (int epoch = 0; epoch < 2; ++epoch) {
    while (const auto batch = pipe.next()) {
      for (size_t k = 0; k < batch->indices.size(); ++k) {
        const std::vector<Array> alone = pipe.sample(epoch, batch->indices[k]);
        EXPECT_EQ(alone[0].to_vector<float>(), batch->outputs[0].dense.at(static_cast<int64_t>(k)).to_vector<float>());
        EXPECT_EQ(alone[1].item<int64_t>(), 100 + batch->indices[k]);
      }
    }
  }
  EXPECT_EQ(error_of<iruka::IndexError>([&] { pipe.sample(0, 21); }), "pipeline: there is no sample 21 of 21");
}

TEST(Batches, OfUnequalPicturesAreArrays) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths = write_pictures(folder, 3);
  Graph graph(1);
  graph.set_outputs({graph.add(decode(), {0})});
  Pipeline pipe(files(paths), graph, {.order = {.batch_size = 3}});
  const auto batch = pipe.next();
  ASSERT_TRUE(batch);
  EXPECT_FALSE(batch->outputs[0].dense.valid());
  ASSERT_EQ(batch->outputs[0].arrays.size(), 3u);
  for (int64_t k = 0; k < 3; ++k)
    EXPECT_EQ(batch->outputs[0].arrays[static_cast<size_t>(k)].to_vector<uint8_t>(), picture(k).to_vector<uint8_t>());
}

TEST(Batches, FunctionsAreCalledWithArraysAndDraws) {
  Graph graph(2);
  const auto add = [](std::span<const Array> inputs, const SampleKey& key, Draws& draws) {
    EXPECT_EQ(inputs[0].item<int64_t>(), key.index);
    return std::vector<Array>{Array::from<int64_t>({inputs[0].item<int64_t>() + inputs[1].item<int64_t>()}),
                              Array::from<int64_t>({draws.below(1000)})};
  };
  const int first = graph.add(function("add", add, 2), {0, 1}, 77);
  graph.set_outputs({first, first + 1});
  Pipeline pipe(std::make_shared<Numbers>(6), graph, {.order = {.seed = 5, .batch_size = 6}});
  const auto batch = pipe.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->outputs[0].dense.to_vector<int64_t>(), (Indices{0, 2, 6, 12, 20, 30}));
  Indices drawn;
  for (int64_t k = 0; k < 6; ++k) drawn.push_back(Draws({.seed = 5, .epoch = 0, .index = k}, 77).below(1000));
  EXPECT_EQ(batch->outputs[1].dense.to_vector<int64_t>(), drawn);
}

TEST(Batches, NodesOfOnePlaceDrawTheSameNumbers) {
  const Distribution uniform{.kind = Distribution::Kind::uniform, .first = 0, .second = 1};
  Graph graph(2);
  graph.set_outputs({graph.add(draw(uniform), {}, 9), graph.add(draw(uniform), {}, 9), graph.add(draw(uniform), {})});
  Pipeline pipe(std::make_shared<Numbers>(50), graph, {.order = {.batch_size = 50}});
  const auto batch = pipe.next();
  ASSERT_TRUE(batch);
  const auto numbers = [&](size_t output) { return batch->outputs[output].dense.to_vector<float>(); };
  EXPECT_EQ(numbers(0), numbers(1));
  EXPECT_NE(numbers(0), numbers(2));
}

TEST(Batches, RepeatTheLastSampleWithoutMakingItAgain) {
  std::atomic<int> calls{0};
  const auto drawn = [&](std::span<const Array> inputs, const SampleKey&, Draws& draws) {
    ++calls;
    return std::vector<Array>{inputs[0], Array::from<int64_t>({draws.below(1000)})};
  };
  for (const bool pads : {false, true}) {
    Graph graph(2);
    const int first = graph.add(function("drawn", drawn, 2), {0});
    graph.set_outputs({first, first + 1});
    Pipeline pipe(std::make_shared<Numbers>(3), graph,
                  {.order = {.batch_size = 4,
                             .shard = 0,
                             .shards = pads ? 4 : 1,
                             .pad_last_batch = pads,
                             .last_batch = LastBatch::fill},
                   .prefetch = 0});
    calls = 0;
    const auto batch = pipe.next();  // a shard without a sample has a neighbour's, four times
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->indices, pads ? (Indices{0, 0, 0, 0}) : (Indices{0, 1, 2, 2}));
    EXPECT_EQ(batch->padded, pads ? 4 : 1);
    EXPECT_EQ(calls, pads ? 1 : 3);
    EXPECT_EQ(batch->outputs[0].dense.to_vector<int64_t>(), batch->indices);
    const auto numbers = batch->outputs[1].dense.to_vector<int64_t>();
    EXPECT_EQ(numbers[3], numbers[2]);
    EXPECT_EQ(numbers[2], pipe.sample(0, batch->indices[2])[1].item<int64_t>());
  }
}

TEST(Failures, RaiseAndTheRunGoesOn) {
  Pipeline pipe(std::make_shared<Numbers>(12, Indices{2, 3, 9}), pass_on(), {.order = {.batch_size = 4}});
  EXPECT_EQ(error_of<ValueError>([&] { pipe.next(); }), "no number 2");
  EXPECT_EQ(pipe.state().batch, 1);
  EXPECT_EQ(pipe.next()->indices, (Indices{4, 5, 6, 7}));
  EXPECT_EQ(error_of<ValueError>([&] { pipe.next(); }), "no number 9");
  EXPECT_FALSE(pipe.next());
  EXPECT_EQ(pipe.failure_count(), 3);
  const std::vector<Failure> failures = pipe.failures();
  ASSERT_EQ(failures.size(), 3u);
  EXPECT_EQ(failures[1].index, 3);
  EXPECT_EQ(failures[1].sample, "sample 3");
  EXPECT_EQ(failures[1].stage, "source");
  EXPECT_EQ(failures[1].message, "no number 3");
  EXPECT_EQ(failures[1].replaced_by, -1);
}

TEST(Failures, AreSkipped) {
  Pipeline pipe(std::make_shared<Numbers>(12, Indices{2, 4, 5, 6, 7}), pass_on(),
                {.order = {.batch_size = 4}, .on_error = OnError::skip});
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(epoch_of(pipe), (std::vector<Indices>{{0, 1, 3}, {8, 9, 10, 11}}));
    EXPECT_EQ(pipe.failure_count(), 5 * (epoch + 1));
  }
  EXPECT_EQ(pipe.profile().samples, 14);
}

TEST(Failures, AreReplacedByTheSameSamplesForAnyThreads) {
  std::vector<std::vector<Indices>> runs;
  for (const int prefetch : {0, 2}) {
    Pipeline pipe(std::make_shared<Numbers>(12, Indices{2, 7}), pass_on(),
                  {.order = {.batch_size = 4}, .prefetch = prefetch, .on_error = OnError::replace});
    runs.push_back(epoch_of(pipe));
    for (const Failure& failure : pipe.failures()) {
      EXPECT_TRUE(failure.index == 2 || failure.index == 7);
      const Indices& batch = runs.back()[static_cast<size_t>(failure.index / 4)];
      EXPECT_EQ(batch[static_cast<size_t>(failure.index % 4)], failure.replaced_by);
      EXPECT_TRUE(failure.replaced_by >= 0 && failure.replaced_by != 2 && failure.replaced_by != 7);
    }
    EXPECT_EQ(pipe.failure_count(), 2);
  }
  EXPECT_EQ(runs[0], runs[1]);
  ASSERT_EQ(runs[0].size(), 3u);
  EXPECT_EQ(runs[0][2], (Indices{8, 9, 10, 11}));
}

TEST(Failures, OfFilesNameTheFileAndTheStage) {
  const TemporaryFolder folder;
  std::vector<std::string> paths = write_pictures(folder, 4);
  cut_short(paths[1]);
  paths[2] = folder / "missing.png";
  Graph graph(1);
  graph.set_outputs({graph.add(stages({image::Resize{.height = 8, .width = 8}}), {graph.add(decode(), {0})})});
  Pipeline pipe(files(paths), graph, {.order = {.batch_size = 4}, .on_error = OnError::skip});
  EXPECT_EQ(pipe.next()->indices, (Indices{0, 3}));
  const std::vector<Failure> failures = pipe.failures();
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].sample, paths[1]);
  EXPECT_EQ(failures[0].stage, "pixels");
  EXPECT_EQ(failures[1].sample, paths[2]);
  EXPECT_EQ(failures[1].stage, "decode");
}

TEST(Values, HeadersAreReadOnce) {
  const std::vector<uint8_t> file = image::imencode("png", picture(0));
  const Array bytes = Array::from(std::span(file), {std::ssize(file)});
  const Value value = Value(bytes).decoded({}, "decode");
  std::memset(bytes.data(), 0, 8);
  const image::Stage flip = image::Flip{};
  const Value flipped = value.with({&flip, 1}, image::Layout::hwc);
  EXPECT_EQ(flipped.size(), (std::pair<int64_t, int64_t>{30, 50}));
  EXPECT_EQ(flipped.result().first, (Dims{30, 50, 3}));
  EXPECT_EQ(value.array().to_vector<uint8_t>(), picture(0).to_vector<uint8_t>());
  EXPECT_EQ(error_of<ValueError>([&] { value.array(); }).find("decode: no JPEG"), 0u);  // only a file is decoded twice
}

TEST(Values, OfOneFileAreMadeAnyNumberOfTimes) {
  const TemporaryFolder folder;
  const Value whole = Value::of_file(write_pictures(folder, 1)[0]).decoded({}, "decode");
  const image::Stage flip = image::Flip{};
  const Value flipped = whole.with({&flip, 1}, image::Layout::hwc);
  const std::vector<uint8_t> expected = picture(0).to_vector<uint8_t>();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        EXPECT_EQ(whole.size(), (std::pair<int64_t, int64_t>{30, 50}));
        right += whole.array().to_vector<uint8_t>() == expected;
        EXPECT_EQ(flipped.array().at(0).at(49).to_vector<uint8_t>(), picture(0).at(0).at(0).to_vector<uint8_t>());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 80);
}

TEST(Failures, OfAFunctionThatGivesTooLittle) {
  Graph graph(2);
  const auto nothing = [](std::span<const Array>, const SampleKey&, Draws&) { return std::vector<Array>{}; };
  graph.set_outputs({graph.add(function("nothing", nothing), {0})});
  Pipeline pipe(std::make_shared<Numbers>(1), graph, {});
  EXPECT_EQ(error_of<ValueError>([&] { pipe.next(); }), "nothing gave 0 arrays, not 1");
}

TEST(States, AreRefusedWhereTheyAreOfAnotherPipeline) {
  Pipeline pipe(std::make_shared<Numbers>(10), pass_on(), {.order = {.seed = 3, .batch_size = 4}});
  const auto message = [&](const State& state) { return error_of<ValueError>([&] { pipe.restore(state); }); };
  EXPECT_EQ(message({.seed = 4}), "pipeline: the state is of a pipeline with seed 4, not 3");
  EXPECT_EQ(message({.seed = 3, .epoch = -1}), "pipeline: there is no batch 0 in epoch -1");
  EXPECT_EQ(message({.seed = 3, .epoch = 2, .batch = 4}),
            "pipeline: the state is behind batch 4 of epoch 2, which has 3");
  EXPECT_EQ(message({.seed = 3, .epoch = 2, .batch = 2}), "no error");
  EXPECT_EQ(epoch_of(pipe), (std::vector<Indices>{{8, 9}}));
  EXPECT_EQ(pipe.state().epoch, 3);
}

TEST(States, OfAResetAreAtTheNextEpoch) {
  Pipeline pipe(std::make_shared<Numbers>(10), pass_on(), {.order = {.batch_size = 4}});
  pipe.reset();
  EXPECT_EQ(pipe.state().epoch, 0);  // nothing was taken
  pipe.next();
  pipe.reset();
  EXPECT_EQ(pipe.state().epoch, 1);
  EXPECT_EQ(pipe.next()->indices, (Indices{0, 1, 2, 3}));
  pipe.stop();
  EXPECT_EQ(pipe.next()->indices, (Indices{4, 5, 6, 7}));
}

TEST(Profiles, CountCalls) {
  Graph graph(2);
  const auto same = [](std::span<const Array> inputs, const SampleKey&, Draws&) { return std::vector{inputs[0]}; };
  graph.set_outputs({graph.add(function("same", same), {0}), 1});
  Pipeline pipe(std::make_shared<Numbers>(10), graph, {.order = {.batch_size = 4}, .prefetch = 0});
  epoch_of(pipe);
  const Profile profile = pipe.profile();
  EXPECT_EQ(profile.samples, 10);
  EXPECT_EQ(profile.batches, 3);
  ASSERT_EQ(profile.stages.size(), 3u);
  const char* const names[] = {"source", "same", "pixels"};
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(profile.stages[k].stage, names[k]);
    EXPECT_EQ(profile.stages[k].calls, 10);
    EXPECT_GT(profile.stages[k].seconds, 0);
  }
}

TEST(Profiles, SayWhoWaits) {
  using std::chrono::milliseconds;
  const auto profile_of = [](milliseconds sample, milliseconds batch, int prefetch) {
    const auto slow = [=](std::span<const Array> inputs, const SampleKey&, Draws&) {
      std::this_thread::sleep_for(sample);
      return std::vector{inputs[0]};
    };
    Graph graph(2);
    graph.set_outputs({graph.add(function("slow", slow), {0})});
    Pipeline pipe(std::make_shared<Numbers>(20), graph,
                  {.order = {.batch_size = 2}, .threads = 1, .prefetch = prefetch});
    const auto begin = std::chrono::steady_clock::now();
    for (int epoch = 0; epoch < 2; ++epoch) {
      while (pipe.next()) std::this_thread::sleep_for(batch);
      std::this_thread::sleep_for(milliseconds(20));  // what a program does between epochs is its own matter
    }
    const Profile profile = pipe.profile();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    EXPECT_LE(profile.waited + profile.idle, wall.count() + 1e-3);
    return profile;
  };
  const Profile slow_samples = profile_of(milliseconds(5), milliseconds(0), 2);  // 10 ms for a batch, 20 batches
  EXPECT_GT(slow_samples.waited, 0.1);
  EXPECT_LT(slow_samples.idle, 0.02);
  const Profile slow_consumer = profile_of(milliseconds(0), milliseconds(10), 2);
  EXPECT_GT(slow_consumer.idle, 0.1);
  EXPECT_LT(slow_consumer.waited, 0.1);
  const Profile at_once = profile_of(milliseconds(5), milliseconds(5), 0);
  EXPECT_GT(at_once.waited, 0.19);
  EXPECT_EQ(at_once.idle, 0);
}

/// Samples 0 to size - 1, one after the other; `bad` are errors, and next() raises behind `last`.
class Sequence : public Numbers {
 public:
  explicit Sequence(int64_t size, Indices bad = {}, int64_t last = -1) : Numbers(size, std::move(bad)), last_(last) {}
  bool is_sequential() const override { return true; }
  void begin(int64_t epoch) override {
    position_ = 0;
    epochs.push_back(epoch);
  }
  std::vector<GivenSample> next(int64_t count) override {
    std::vector<GivenSample> samples;
    for (; count > 0 && position_ < size(); --count, ++position_) {
      if (position_ == last_) throw ValueError("the sequence broke");
      try {
        samples.push_back({.values = sample(position_)});
      } catch (...) {
        samples.push_back({.error = std::current_exception()});
      }
    }
    return samples;
  }
  std::vector<int64_t> epochs;

 private:
  int64_t position_ = 0, last_;
};

TEST(Sequences, GiveAtMostWhatTheyAreAskedFor) {
  class Generous : public Sequence {
   public:
    using Sequence::Sequence;
    std::vector<GivenSample> next(int64_t count) override { return Sequence::next(count + 1); }
  };
  for (const int prefetch : {0, 2}) {
    Pipeline pipe(std::make_shared<Generous>(10), pass_on(), {.order = {.batch_size = 3}, .prefetch = prefetch});
    EXPECT_EQ(error_of<ValueError>([&] { pipe.next(); }),
              "pipeline: the source's next(3) gave 4 samples, more than it was asked for");
  }
}

TEST(Sequences, WithoutAnEndAndAnyGoodSample) {
  class Endless : public Sequence {
   public:
    using Sequence::Sequence;
    std::vector<GivenSample> next(int64_t count) override {
      const auto error = std::make_exception_ptr(ValueError("bad"));
      return std::vector<GivenSample>(static_cast<size_t>(count), GivenSample{.error = error});
    }
  };
  for (const OnError on_error : {OnError::skip, OnError::replace}) {
    Pipeline pipe(std::make_shared<Endless>(10), pass_on(), {.order = {.batch_size = 1000}, .on_error = on_error});
    EXPECT_EQ(error_of<ValueError>([&] { pipe.next(); }),
              "pipeline: 100000 samples in a row failed; its report says why");
    EXPECT_EQ(pipe.failure_count(), 100000);
  }
}

TEST(Sequences, ComeInOrderAnewInEachEpoch) {
  for (const int prefetch : {0, 1, 3}) {
    const auto source = std::make_shared<Sequence>(10);
    Pipeline pipe(source, pass_on(), {.order = {.batch_size = 4}, .prefetch = prefetch});
    EXPECT_FALSE(pipe.batches());
    EXPECT_EQ(pipe.samples(), -1);
    for (int epoch = 0; epoch < 3; ++epoch)
      EXPECT_EQ(epoch_of(pipe), (std::vector<Indices>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
    pipe.stop();
    EXPECT_EQ(source->epochs, (Indices{0, 1, 2}));
    EXPECT_EQ(error_of<TypeError>([&] { pipe.sample(0, 0); }), "pipeline: a sequential source has no sample by number");
  }
}

TEST(Sequences, HaveAllLastBatches) {
  const auto run = [](LastBatch last) {
    Pipeline pipe(std::make_shared<Sequence>(6), pass_on(), {.order = {.batch_size = 4, .last_batch = last}});
    return epoch_of(pipe);
  };
  EXPECT_EQ(run(LastBatch::partial), (std::vector<Indices>{{0, 1, 2, 3}, {4, 5}}));
  EXPECT_EQ(run(LastBatch::drop), (std::vector<Indices>{{0, 1, 2, 3}}));
  EXPECT_EQ(run(LastBatch::fill), (std::vector<Indices>{{0, 1, 2, 3}, {4, 5, 5, 5}}));
}

TEST(Sequences, ResumeBehindTheBatchesOfTheState) {
  Pipeline pipe(std::make_shared<Sequence>(10), pass_on(), {.order = {.batch_size = 4}});
  pipe.restore({.seed = 0, .epoch = 5, .batch = 1});
  EXPECT_EQ(epoch_of(pipe), (std::vector<Indices>{{4, 5, 6, 7}, {8, 9}}));
  EXPECT_EQ(pipe.state().epoch, 6);
}

TEST(Sequences, TellOfBatchesThatAreLeftOut) {
  Pipeline pipe(std::make_shared<Sequence>(8, Indices{2, 3, 4, 5}), pass_on(),
                {.order = {.batch_size = 2}, .on_error = OnError::skip, .gives_empty = true});
  for (const Indices& expected : std::vector<Indices>{{0, 1}, {}, {}, {6, 7}}) {
    const std::optional<Batch> batch = pipe.next();
    EXPECT_EQ(batch->indices, expected);
    EXPECT_EQ(batch->outputs.empty(), expected.empty());
  }
  EXPECT_FALSE(pipe.next());
}

TEST(Sequences, LeaveOutBadSamples) {
  Pipeline pipe(std::make_shared<Sequence>(8, Indices{1, 6}), pass_on(),
                {.order = {.batch_size = 4}, .on_error = OnError::skip});
  EXPECT_EQ(epoch_of(pipe), (std::vector<Indices>{{0, 2, 3}, {4, 5, 7}}));
  EXPECT_EQ(pipe.failures()[1].sample, "sample 6");
}

TEST(Sequences, ThatRaiseEndTheirEpoch) {
  for (const int prefetch : {0, 2}) {
    Pipeline pipe(std::make_shared<Sequence>(12, Indices{}, 5), pass_on(),
                  {.order = {.batch_size = 4}, .prefetch = prefetch});
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
      EXPECT_EQ(pipe.next()->indices, (Indices{0, 1, 2, 3}));
      EXPECT_EQ(error_of<ValueError>([&] { pipe.next(); }), "the sequence broke") << prefetch;
      EXPECT_EQ(pipe.state().epoch, epoch + 1);
    }
  }
}

TEST(Sequences, AreNeitherShuffledNorSharded) {
  for (const OrderOptions& order : {OrderOptions{.shuffle = true}, OrderOptions{.shards = 2}})
    EXPECT_EQ(error_of<ValueError>([&] { Pipeline(std::make_shared<Sequence>(4), pass_on(), {.order = order}); }),
              "pipeline: a sequential source can be neither shuffled nor divided into shards: give it a random-access "
              "source, or let the source do so");
}

}  // namespace
