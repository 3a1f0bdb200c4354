// The pictures of a folder, whose folders are the classes, as batches for training: decoded, cut at random, mirrored,
// normalised, channels first. It is the pipeline of train_pipeline.py without the network.
//
// `preprocess --help` describes its options.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "iruka/iruka.h"
#include "iruka/pipeline.h"

namespace {

namespace image = iruka::image;
namespace pipeline = iruka::pipeline;

constexpr const char* kHelp = R"(usage: preprocess FOLDER [options]

Makes training batches of a folder's pictures: decoded, a random part of each resized to a square, mirrored at random,
normalised and turned into planes, float32 (batch, 3, size, size). Prints shapes and labels of the batches, the files
that were left out and why, the rate, and a checksum of all pixels and labels.

  FOLDER         a folder whose folders are the classes, in the order of their names; files are of any format that the
                 library decodes

options:
  --size N       height and width of the pictures in a batch, in pixels (default: 224)
  --batch N      pictures in a batch; the last one of an epoch may be smaller (default: 32)
  --epochs N     passes over all pictures, each in another order (default: 1)
  --threads N    the most threads that make a batch; 0: one for each core (default: 0)
  --device NAME  where the batches are made: cpu, cuda, cuda:1, ... (default: cpu)
  --check        makes the same batches again on one thread and compares the checksums
  --help, -h     prints this text

The exit status is 0; 1 where something failed or --check found a difference; 2 for wrong usage.
)";

struct CommandLine {
  std::string folder, device = "cpu";
  int64_t size = 224, batch = 32, epochs = 1;
  int threads = 0;
  bool check = false, help = false;
};

/// Raises std::invalid_argument for text that is no such number.
int64_t number_of(const std::string& option, const std::string& text, int64_t least, int64_t most) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    throw std::invalid_argument(option + " takes a number from " + std::to_string(least) + " to " +
                                std::to_string(most) + ", not '" + text + "'");
  return number;
}

/// Raises std::invalid_argument for what is not in the help.
CommandLine parse(const std::vector<std::string>& texts) {
  CommandLine line;
  for (size_t k = 0; k < texts.size(); ++k) {
    const std::string& text = texts[k];
    const auto value = [&] {
      if (k + 1 == texts.size()) throw std::invalid_argument(text + " takes a value");
      return texts[++k];
    };
    if (text == "--check")
      line.check = true;
    else if (text == "--help" || text == "-h")
      line.help = true;
    else if (text == "--size")
      line.size = number_of(text, value(), 1, 1 << 16);
    else if (text == "--batch")
      line.batch = number_of(text, value(), 1, 1 << 20);
    else if (text == "--epochs")
      line.epochs = number_of(text, value(), 1, 1 << 30);
    else if (text == "--threads")
      line.threads = static_cast<int>(number_of(text, value(), 0, 1 << 16));
    else if (text == "--device")
      line.device = value();
    else if (text.starts_with("-") || !line.folder.empty())
      throw std::invalid_argument(text.starts_with("-") ? "there is no option " + text
                                                        : "one folder is given, not also '" + text + "'");
    else
      line.folder = text;
  }
  if (line.folder.empty() && !line.help) throw std::invalid_argument("a folder is to be given");
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
  try {
    const CommandLine line = parse({texts + 1, texts + count});
    if (!line.help) return preprocess(line);
    std::fputs(kHelp, stdout);
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "preprocess: %s; --help says more\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "preprocess: %s\n", error.what());
    return 1;
  }
}
