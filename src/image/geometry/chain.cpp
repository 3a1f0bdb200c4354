// Chains, and the functions that are chains of one stage.
#include <algorithm>

#include "image/geometry/plan.h"
#include "image/geometry/run.h"
#include "image/outputs.h"
#include "iruka/device.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

/// A picture on its way through the passes of its chain.
struct Journey {
  std::vector<PassPlan> passes;
  Array picture, out;

  PassRun run(size_t pass) {
    const PassPlan& plan = passes[pass];
    const bool is_last = pass + 1 == passes.size();
    Array result = is_last && out.valid() ? out : Array::empty(plan.to.dims(), plan.result_dtype, picture.device());
    PassRun made{.plan = plan, .source = picture, .result = result, .map_y = {}, .map_x = {}};
    picture = std::move(result);
    return made;
  }
};

}  // namespace

Chain::Chain(std::vector<Stage> stages, Layout layout) : stages_(std::move(stages)), layout_(layout) {
  check_stages(stages_);
}

std::pair<Dims, Dtype> Chain::result(const Dims& shape, Dtype dtype) const {
  const std::vector<PassPlan> passes = plan(*this, shape, dtype);
  return {passes.back().to.dims(), passes.back().result_dtype};
}

int64_t Chain::passes(const Dims& shape, Dtype dtype) const { return std::ssize(plan(*this, shape, dtype)); }

Array Chain::operator()(const Array& picture) const { return apply_chains({this, 1}, {&picture, 1}).front(); }

void Chain::into(const Array& out, const Array& picture) const { apply_chains({this, 1}, {&picture, 1}, {&out, 1}); }

std::vector<Array> apply_chains(std::span<const Chain> chains, std::span<const Array> pictures,
                                std::span<const Array> outs) {
  const size_t count = pictures.size();
  if (chains.size() != 1 && chains.size() != count)
    throw ValueError("apply: " + std::to_string(chains.size()) + " chains for " + std::to_string(count) + " pictures");
  if (!outs.empty() && outs.size() != count)
    throw ValueError("apply: " + std::to_string(outs.size()) + " arrays to fill for " + std::to_string(count) +
                     " pictures");
  std::vector<Journey> journeys(count);
  const std::vector<Array> sources = apart_from(outs, pictures);
  size_t rounds = 0;
  for (size_t k = 0; k < count; ++k) {
    Journey& journey = journeys[k];
    journey.picture = sources[k];
    journey.passes = plan(chains[chains.size() == 1 ? 0 : k], pictures[k].shape(), pictures[k].dtype());
    rounds = std::max(rounds, journey.passes.size());
    if (outs.empty() || !outs[k].valid()) continue;
    journey.out = outs[k];
    const PassPlan& last = journey.passes.back();
    check_out("", journey.out, last.to.dims(), last.result_dtype, journey.picture);
  }
  for (size_t round = 0; round < rounds; ++round) {
    std::vector<PassRun> runs;
    for (Journey& journey : journeys) {
      if (round < journey.passes.size()) runs.push_back(journey.run(round));
    }
    run_passes(runs);
  }
  std::vector<Array> results;
  results.reserve(count);
  for (Journey& journey : journeys) results.push_back(std::move(journey.picture));
  return results;
}

Array remap(const Array& picture, const Array& map_y, const Array& map_x, const Remap& options, Layout layout) {
  for (const Array* map : {&map_y, &map_x}) {
    if (map->dtype() != Dtype::float32)
      throw TypeError(std::string("remap: maps are float32, not ") + name(map->dtype()));
    if (map->ndim() != 2 || map->shape() != map_y.shape())
      throw ShapeError("remap: maps are two arrays (height, width), not of shapes " + to_string(map_y.shape()) +
                       " and " + to_string(map_x.shape()));
    if (&map->device() != &picture.device())
      throw ValueError("remap: the maps must be on " + picture.device().name() + " as the picture");
  }
  if (map_y.size() == 0) throw ShapeError("remap: maps of shape " + to_string(map_y.shape()) + " have no places");
  const Warp warp{.height = map_y.shape(0),
                  .width = map_y.shape(1),
                  .filter = options.filter,
                  .border = options.border,
                  .value = options.value};
  const std::vector<PassPlan> passes = plan(Chain({warp}, layout), picture.shape(), picture.dtype());
  const PassPlan& pass = passes.front();
  const PassRun run{.plan = pass,
                    .source = picture,
                    .result = Array::empty(pass.to.dims(), pass.result_dtype, picture.device()),
                    .map_y = map_y.contiguous(),
                    .map_x = map_x.contiguous()};
  run_passes({&run, 1});
  return run.result;
}

Array resize(const Array& picture, const Resize& options, Layout layout) { return Chain({options}, layout)(picture); }

Array warp(const Array& picture, const Warp& options, Layout layout) { return Chain({options}, layout)(picture); }

}  // namespace iruka::image
