// The pictures of a folder, whose folders are the classes, as batches for training: decoded, cut at random, mirrored,
// normalised, channels first. It is the pipeline of train_pipeline.py without the network.
//
//   preprocess FOLDER [--size 224] [--batch 32] [--epochs 1] [--threads N] [--device cpu] [--check]
//
// --check makes the same batches again on one thread and compares their checksums.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "iruka/iruka.h"
#include "iruka/pipeline.h"

namespace {

namespace image = iruka::image;
namespace pipeline = iruka::pipeline;

struct CommandLine {
  std::string folder, device = "cpu";
  int64_t size = 224, batch = 32, epochs = 1;
  int threads = 0;
  bool check = false;
};

CommandLine parse(int count, char** texts) {
  CommandLine line;
  for (int k = 1; k < count; ++k) {
    const std::string text = texts[k];
    const auto number = [&] { return k + 1 < count ? std::atoll(texts[++k]) : 0; };
    if (text == "--check")
      line.check = true;
    else if (text == "--size")
      line.size = number();
    else if (text == "--batch")
      line.batch = number();
    else if (text == "--epochs")
      line.epochs = number();
    else if (text == "--threads")
      line.threads = static_cast<int>(number());
    else if (text == "--device" && k + 1 < count)
      line.device = texts[++k];
    else
      line.folder = text;
  }
  return line;
}

/// Values: 0 the file, 1 its label, both of the source; 2 the picture, 3 a part of it, 4 the result.
pipeline::Graph make_graph(int64_t size) {
  const image::Resize resize{.height = size, .width = size};
  pipeline::Graph graph(2);
  const int picture = graph.add(pipeline::decode(), {0});
  const int part = graph.add(pipeline::random_resized_crop({.resize = resize}), {picture});
  const pipeline::Distribution coin{.kind = pipeline::Distribution::Kind::bernoulli, .first = 0.5};
  const int result = graph.add(
      pipeline::stages({image::Flip{}, image::Normalize{.mean = {127.5}, .deviation = {64}}, image::ToLayout{}},
                       {{.stage = 0, .field = "flip.horizontal", .parameter = {.distribution = coin}}}),
      {part});
  graph.set_outputs({result, 1});
  return graph;
}

/// FNV-1a of the numbers' bytes.
uint64_t checksum(const iruka::Array& array, uint64_t hash) {
  const iruka::Array numbers = array.to_device(iruka::cpu()).contiguous();
  const auto* bytes = static_cast<const uint8_t*>(numbers.data());
  for (int64_t k = 0; k < numbers.nbytes(); ++k) hash = (hash ^ bytes[k]) * 0x100000001B3u;
  return hash;
}

/// Prints what is in the batches, if wanted, and returns their checksum.
uint64_t run(const CommandLine& line, const pipeline::Folder& folder, const pipeline::Options& options, bool prints) {
  pipeline::Pipeline pipe(pipeline::files(folder.paths, folder.labels), make_graph(line.size), options);
  uint64_t hash = 0xCBF29CE484222325u;
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t epoch = 0; epoch < line.epochs; ++epoch) {
    while (const std::optional<pipeline::Batch> batch = pipe.next()) {
      const iruka::Array &pictures = batch->outputs[0].dense, &labels = batch->outputs[1].dense;
      hash = checksum(labels, checksum(pictures, hash));
      if (!prints) continue;
      std::printf("epoch %lld, batch %lld: %s, labels", static_cast<long long>(batch->epoch),
                  static_cast<long long>(batch->number), iruka::to_string(pictures.shape()).c_str());
      for (const int64_t label : labels.to_vector<int64_t>()) std::printf(" %lld", static_cast<long long>(label));
      std::printf("\n");
    }
  }
  if (!prints) return hash;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  for (const pipeline::Failure& failure : pipe.failures())
    std::printf("left out: %s (%s: %s)\n", failure.sample.c_str(), failure.stage.c_str(), failure.message.c_str());
  const auto samples = static_cast<double>(pipe.profile().samples);
  std::printf("%.0f pictures, %.0f a second; checksum %016llx\n", samples, samples / elapsed.count(),
              static_cast<unsigned long long>(hash));
  return hash;
}

int preprocess(const CommandLine& line) {
  const pipeline::Folder folder = pipeline::list_folder(line.folder);
  pipeline::Options options{.order = {.shuffle = true, .seed = 1, .batch_size = line.batch},
                            .device = &iruka::device(line.device),
                            .threads = line.threads,
                            .on_error = pipeline::OnError::skip};
  const uint64_t hash = run(line, folder, options, true);
  if (!line.check) return 0;
  options.threads = 1;
  options.prefetch = 0;
  const bool is_same = run(line, folder, options, false) == hash;
  std::printf("the same by one thread: %s\n", is_same ? "yes" : "no");
  return is_same ? 0 : 1;
}

}  // namespace

int main(int count, char** texts) {
  const CommandLine line = parse(count, texts);
  if (line.folder.empty()) {
    std::fprintf(
        stderr,
        "usage: preprocess FOLDER [--size N] [--batch N] [--epochs N] [--threads N] [--device NAME] [--check]\n");
    return 2;
  }
  try {
    return preprocess(line);
  } catch (const iruka::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
