// Moments of the channels of uint8 and uint16 by exact sums.
#pragma once

#include "iruka/picture_statistics.h"

namespace iruka::image {

ChannelMoments moments_of_levels(const Array& picture, Layout layout);

}  // namespace iruka::image
