// Files of weights and networks read as torch, safetensors and onnx wrote them (tools/make_nn_files.py).
#include <gtest/gtest.h>

#include "error_of.h"
#include "iruka/device.h"
#include "nn/files/onnx.h"
#include "nn_files.h"

namespace {

using iruka::Array;
using iruka::Dtype;
using iruka::nn::load_weights;
using iruka::nn::Value;
using iruka::test::error_of;
using nn_files::Bytes;
using nn_files::content;
using nn_files::data_path;
using nn_files::Json;
using nn_files::PickleWriter;

class WrittenByTheirLibraries : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(WrittenByTheirLibraries, HoldTheSameValues) {
  const auto [name, expected] = GetParam();
  const Json want = nn_files::expected(expected);
  EXPECT_EQ(content(load_weights(data_path(name))), want);
  EXPECT_EQ(content(load_weights(nn_files::read(data_path(name)))), want);
}

INSTANTIATE_TEST_SUITE_P(
    Files, WrittenByTheirLibraries,
    testing::Values(std::pair("dtypes.safetensors", "dtypes.safetensors"), std::pair("tensors.pt", "tensors.pt"),
                    std::pair("tensors_legacy.pt", "tensors_legacy.pt"), std::pair("state_dict.pt", "state_dict.pt"),
                    std::pair("checkpoint.pt", "checkpoint.pt"), std::pair("checkpoint_legacy.pt", "checkpoint.pt"),
                    std::pair("checkpoint_protocol3.pt", "checkpoint.pt"),
                    std::pair("checkpoint_protocol4.pt", "checkpoint.pt"),
                    std::pair("checkpoint_protocol5.pt", "checkpoint.pt")));

}  // namespace
