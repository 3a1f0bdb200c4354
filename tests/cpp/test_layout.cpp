// Loops over several operands: broadcast, merged and ordered axes, and overlap against brute force.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/layout.h"
#include "host_device.h"

namespace iruka {
namespace {

testing::HostDevice& host() {
  static testing::HostDevice device;
  return device;
}

struct Operand {
  Dims shape, strides;
};

LoopLayout make(const Dims& shape, const std::vector<Operand>& operands) {
  std::vector<LoopOperand> list;
  for (const Operand& operand : operands) list.push_back({&operand.shape, &operand.strides});
  return LoopLayout(shape, list);
}

Dims extents(const LoopLayout& loop) { return Dims(loop.extents(), loop.rank()); }
Dims strides(const LoopLayout& loop, int operand) { return Dims(loop.strides(operand), loop.rank()); }

/// Byte offsets of every operand at every element, in the order of the loop.
std::vector<std::vector<int64_t>> walk(const LoopLayout& loop) {
  std::vector<std::vector<int64_t>> result;
  std::vector<int64_t> at(loop.rank(), 0);
  for (int64_t k = 0; k < loop.count(); ++k) {
    std::vector<int64_t>& row = result.emplace_back();
    for (int operand = 0; operand < loop.operands(); ++operand) {
      int64_t offset = loop.offset(operand);
      for (int axis = 0; axis < loop.rank(); ++axis) offset += at[axis] * loop.stride(operand, axis);
      row.push_back(offset);
    }
    for (int axis = loop.rank() - 1; axis >= 0 && ++at[axis] == loop.extent(axis); --axis) at[axis] = 0;
  }
  return result;
}

TEST(LoopLayout, BroadcastsOperands) {
  const LoopLayout loop = make({2, 3}, {{{2, 3}, {12, 4}}, {{3}, {8}}, {{2, 1}, {4, 4}}, {{}, {}}});
  EXPECT_EQ(extents(loop), (Dims{2, 3}));
  EXPECT_EQ(strides(loop, 0), (Dims{12, 4}));
  EXPECT_EQ(strides(loop, 1), (Dims{0, 8}));
  EXPECT_EQ(strides(loop, 2), (Dims{4, 0}));
  EXPECT_EQ(strides(loop, 3), (Dims{0, 0}));
  EXPECT_EQ(loop.count(), 6);
  EXPECT_THROW(make({2, 3}, {{{2}, {4}}}), ShapeError);
  EXPECT_THROW(make({3}, {{{2, 3}, {12, 4}}}), ShapeError);
  EXPECT_THROW(make({1}, {{{3}, {4}}}), ShapeError);
}

TEST(LoopLayout, MergesAxesThatAllOperandsWalkAsOne) {
  LoopLayout loop = make({2, 1, 3, 4}, {{{2, 1, 3, 4}, {48, 7, 16, 4}}, {{2, 1, 3, 4}, {96, 0, 32, 8}}});
  loop.merge_axes();
  EXPECT_EQ(extents(loop), Dims{24});
  EXPECT_EQ(strides(loop, 0), Dims{4});
  EXPECT_EQ(strides(loop, 1), Dims{8});

  LoopLayout split = make({2, 3, 4}, {{{2, 3, 4}, {48, 16, 4}}, {{3, 4}, {16, 4}}});
  split.merge_axes();
  EXPECT_EQ(extents(split), (Dims{2, 12}));
  EXPECT_EQ(strides(split, 0), (Dims{48, 4}));
  EXPECT_EQ(strides(split, 1), (Dims{0, 4}));
}

TEST(LoopLayout, ScalarsAndEmptyLoopsHaveOneAxis) {
  LoopLayout scalar = make({}, {{{}, {}}});
  EXPECT_EQ(scalar.rank(), 1);
  scalar.merge_axes();
  EXPECT_EQ(extents(scalar), Dims{1});
  EXPECT_EQ(scalar.count(), 1);
  LoopLayout ones = make({1, 1}, {{{1, 1}, {4, 4}}});
  ones.merge_axes();
  EXPECT_EQ(extents(ones), Dims{1});
  LoopLayout empty = make({4, 0, 3}, {{{4, 0, 3}, {12, 12, 4}}});
  empty.reorder_axes(0);
  empty.merge_axes();
  EXPECT_EQ(extents(empty), Dims{0});
  EXPECT_EQ(empty.count(), 0);
  LoopLayout none = make({5, 2}, {});
  none.reorder_axes(0);
  none.merge_axes();
  EXPECT_EQ(extents(none), Dims{10});
}

TEST(LoopLayout, FortranOrderBecomesOneAxis) {
  const Dims f{4, 8, 24};
  LoopLayout loop = make({2, 3, 4}, {{{2, 3, 4}, f}, {{2, 3, 4}, f}});
  loop.reorder_axes(1);
  loop.merge_axes();
  EXPECT_EQ(extents(loop), Dims{24});
  EXPECT_EQ(strides(loop, 0), Dims{4});
}

TEST(LoopLayout, OutputsDecideTheOrder) {
  // One input in Fortran order, the output in C order: the output's fast axis stays innermost.
  LoopLayout loop = make({2, 3}, {{{2, 3}, {4, 8}}, {{2, 3}, {12, 4}}});
  loop.reorder_axes(1);
  EXPECT_EQ(extents(loop), (Dims{2, 3}));
  loop.reorder_axes(0);
  EXPECT_EQ(extents(loop), (Dims{3, 2}));
  EXPECT_EQ(strides(loop, 1), (Dims{4, 12}));
}

TEST(LoopLayout, AxesBackwardsForAllAreTurnedRound) {
  LoopLayout loop = make({2, 3}, {{{2, 3}, {-12, -4}}, {{2, 3}, {-24, -8}}});
  loop.reorder_axes(1);
  loop.merge_axes();
  EXPECT_EQ(extents(loop), Dims{6});
  EXPECT_EQ(strides(loop, 1), Dims{8});
  EXPECT_EQ(loop.offset(0), -20);
  EXPECT_EQ(loop.offset(1), -40);
  LoopLayout mixed = make({3}, {{{3}, {-4}}, {{3}, {4}}});
  mixed.reorder_axes(1);
  EXPECT_EQ(strides(mixed, 0), Dims{-4});
  EXPECT_EQ(mixed.offset(0), 0);
}

TEST(LoopLayout, RandomLoopsVisitTheSameElements) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    Dims shape;
    const int rank = static_cast<int>(random() % 6);
    for (int axis = 0; axis < rank; ++axis) shape.push_back(1 + random() % 4);
    std::vector<Operand> operands;
    for (size_t count = 1 + random() % 4; count > 0; --count) {
      Dims from = shape;
      for (int64_t& extent : from)
        if (random() % 4 == 0) extent = 1;
      Dims layout = c_strides(from, 2);
      if (random() % 3 == 0) {  // the same extents in Fortran order
        int64_t stride = 2;
        for (int axis = 0; axis < rank; ++axis) {
          layout[axis] = stride;
          stride *= from[axis];
        }
      }
      for (int64_t& stride : layout) stride *= random() % 4 == 0 ? -1 : 1;
      operands.push_back({from, layout});
    }
    LoopLayout loop = make(shape, operands);
    const auto expected = walk(loop);
    LoopLayout merged = make(shape, operands);
    merged.merge_axes();
    ASSERT_EQ(walk(merged), expected);  // in the same order
    LoopLayout ordered = make(shape, operands);
    ordered.reorder_axes(static_cast<int>(operands.size()) - 1);
    ordered.merge_axes();
    ASSERT_LE(ordered.rank(), std::max(loop.rank(), 1));
    const auto visited = walk(ordered);
    ASSERT_EQ(std::multiset(visited.begin(), visited.end()), std::multiset(expected.begin(), expected.end()));
  }
}

TEST(LoopLayout, ManyOperandsOfHighRank) {
  Dims shape(32, 1);
  shape[0] = 2;
  shape[31] = 3;
  const Dims strides_of_all = c_strides(shape, 4);
  std::vector<LoopOperand> operands(20, LoopOperand{&shape, &strides_of_all});
  LoopLayout loop(shape, operands);
  EXPECT_EQ(loop.rank(), 32);
  loop.reorder_axes(19);
  loop.merge_axes();
  EXPECT_EQ(extents(loop), Dims{6});
  EXPECT_EQ(strides(loop, 19), Dims{4});
  const LoopLayout moved = std::move(loop);
  EXPECT_EQ(moved.extent(0), 6);
}

// --- overlap -------------------------------------------------------------------------------------------------------

std::set<int64_t> bytes_of(const Array& x) {
  std::set<int64_t> bytes;
  if (x.size() == 0) return bytes;
  std::vector<int64_t> at(x.ndim(), 0);
  for (int64_t k = 0; k < x.size(); ++k) {
    int64_t offset = x.offset();
    for (int axis = 0; axis < x.ndim(); ++axis) offset += at[axis] * x.strides()[axis];
    for (int64_t byte = 0; byte < x.itemsize(); ++byte) bytes.insert(offset + byte);
    for (int axis = x.ndim() - 1; axis >= 0 && ++at[axis] == x.shape(axis); --axis) at[axis] = 0;
  }
  return bytes;
}

TEST(Overlap, SimpleCases) {
  const Array x = Array::empty({6, 8}, Dtype::float32, host());
  EXPECT_EQ(overlap(x, x), Overlap::identical);
  EXPECT_EQ(overlap(x, x.reshape({6, 8, 1}).squeeze()), Overlap::identical);
  EXPECT_EQ(overlap(x, x.transpose()), Overlap::partial);
  EXPECT_EQ(overlap(x, Array::empty({6, 8}, Dtype::float32, host())), Overlap::none);
  EXPECT_EQ(overlap(x.at(Slice{0, 3}), x.at(Slice{3, 6})), Overlap::none);
  EXPECT_EQ(overlap(x.at(Slice{0, 4}), x.at(Slice{3, 6})), Overlap::partial);
  const Slice all;
  EXPECT_EQ(overlap(x.at(all, Slice{0, 4}), x.at(all, Slice{4, 8})), Overlap::none);
  EXPECT_EQ(overlap(x.at(all, Slice{0, {}, 2}), x.at(all, Slice{1, {}, 2})), Overlap::none);
  EXPECT_EQ(overlap(x.at(all, Slice{{}, {}, -1}), x), Overlap::partial);
  EXPECT_EQ(overlap(x.view(Dtype::int32), x), Overlap::identical);
  EXPECT_EQ(overlap(x.view(Dtype::int16), x), Overlap::partial);
  EXPECT_EQ(overlap(x.at(Slice{0, 0}), x), Overlap::none);
}

TEST(Overlap, AgreesWithListsOfBytes) {
  std::mt19937 random(11);
  auto any_slice = [&random] {
    const int64_t steps[] = {1, 2, 3, -1, -2};
    return Slice{{}, {}, steps[random() % 5]};
  };
  int shared = 0, apart = 0;
  for (int round = 0; round < 4000; ++round) {
    const Array x = Array::empty({5, 4, 6}, Dtype::int16, host());
    auto view = [&] {
      auto part = [&](int64_t extent) {
        Slice slice = any_slice();
        const int64_t a = random() % extent, b = random() % extent;
        slice.start = *slice.step > 0 ? std::min(a, b) : std::max(a, b);
        slice.stop = *slice.step > 0 ? std::max(a, b) + 1 : std::min(a, b) - 1;
        if (*slice.stop < 0) slice.stop.reset();
        return slice;
      };
      Array y = x.at(part(5), part(4), part(6));
      if (random() % 3 == 0) y = y.transpose({2, 0, 1});
      if (random() % 5 == 0 && y.strides()[y.ndim() - 1] == 2) y = y.view(Dtype::int8);
      return y;
    };
    const Array a = view(), b = view();
    const std::set<int64_t> bytes_a = bytes_of(a), bytes_b = bytes_of(b);
    const bool common =
        std::any_of(bytes_a.begin(), bytes_a.end(), [&](int64_t byte) { return bytes_b.contains(byte); });
    ASSERT_EQ(overlap(a, b) != Overlap::none, common) << to_string(a.shape()) << to_string(a.strides()) << a.offset()
                                                      << to_string(b.shape()) << to_string(b.strides()) << b.offset();
    ++(common ? shared : apart);
  }
  EXPECT_GT(shared, 200);
  EXPECT_GT(apart, 200);
}

}  // namespace
}  // namespace iruka
