// Marks what leaves the shared library.
#pragma once

#define IRUKA_API __attribute__((visibility("default")))
