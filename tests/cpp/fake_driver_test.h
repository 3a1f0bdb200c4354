// Tests with the CUDA driver in software.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "fake_driver.h"
#include "iruka/device.h"
#include "iruka/stream.h"

namespace iruka::testing {

inline cuda_backend::CUstream cu(const Stream& stream) { return static_cast<cuda_backend::CUstream>(stream.handle()); }

/// Puts the driver in software in the place of the real one. At the end nothing may have been misused.
class FakeDriverTest : public ::testing::Test {
 protected:
  void SetUp() override { cuda_backend::replace_driver(&fake_driver::table()); }
  void TearDown() override { EXPECT_TRUE(fake_driver::misuses().empty()) << fake_driver::misuses().front(); }

  static Device& gpu(int index = 0) { return device("cuda:" + std::to_string(index)); }
};

}  // namespace iruka::testing
