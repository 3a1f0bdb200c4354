// The services that backends implement: vendors' libraries, and the CPU's front end for GPU texts.
#include "backend/cpu/compiler/compiler.h"
#include "backend/cpu/convolution.h"
#include "backend/cpu/cpu_device.h"
#include "backend/cpu/dense_network.h"
#include "backend/cpu/filtering.h"
#include "backend/cpu/fourier.h"
#include "backend/cpu/openblas.h"
#include "backend/cpu/patch_matching.h"
#include "backend/cpu/picture_levels.h"
#include "backend/cpu/pooling.h"
#include "backend/cpu/regions.h"
#include "backend/cpu/resampling.h"
#include "backend/cpu/turning.h"
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/cudnn.h"
#include "backend/cuda/cufft.h"
#include "backend/cuda/cusolver.h"
#include "backend/cuda/nvjpeg.h"
#include "core/convolutions.h"
#include "core/dense_network.h"
#include "core/filtering.h"
#include "core/fourier.h"
#include "core/front_end.h"
#include "core/jpeg_decoding.h"
#include "core/linear_algebra.h"
#include "core/narrow_casts.h"
#include "core/patch_matching.h"
#include "core/picture_levels.h"
#include "core/pool_control.h"
#include "core/pooling.h"
#include "core/regions.h"
#include "core/resampling.h"
#include "core/turning.h"

namespace iruka {
namespace {

cuda_backend::CudaDevice& as_cuda(Device& device) { return static_cast<cuda_backend::CudaDevice&>(device); }

MemoryPool& cpu_pool() { return cpu_backend::cpu_device().pool(); }
constexpr PoolControl kCpuPool{[](Device&) { return cpu_pool().statistics(); },
                               [](Device&, size_t bytes) { cpu_pool().set_limit(bytes); },
                               [](Device&) { cpu_pool().free_held(); }};
constexpr PoolControl kCudaPool{[](Device& device) { return as_cuda(device).pool().statistics(); },
                                [](Device& device, size_t bytes) { as_cuda(device).pool().set_limit(bytes); },
                                [](Device& device) { as_cuda(device).pool().free_all_blocks(); }};

/// The copy in the target, because fork() waits while that is made.
const std::string& clang_fingerprint() { return cpu_backend::cpu_device().target().fingerprint; }
constexpr FrontEnd kClang{clang_fingerprint, cpu_backend::check};
constexpr NarrowCasts kClangForNvrtc{clang_fingerprint, cpu_backend::saturate_narrow_casts};

}  // namespace

const Implementations<LinearAlgebra> LinearAlgebra::implementations{
    "linear algebra",
    {[](Device&) -> LinearAlgebra& { return cpu_backend::openblas(); },
     [](Device& device) -> LinearAlgebra& { return cuda_backend::cuda_linear_algebra(as_cuda(device)); }}};

const Implementations<FourierLibrary> FourierLibrary::implementations{
    "Fourier transforms",
    {[](Device&) -> FourierLibrary& { return cpu_backend::fourier(); },
     [](Device& device) -> FourierLibrary& { return cuda_backend::cuda_fourier(as_cuda(device)); }}};

const Implementations<Convolutions> Convolutions::implementations{
    "convolutions",
    {[](Device&) -> Convolutions& { return cpu_backend::cpu_convolutions(); },
     [](Device& device) -> Convolutions& { return cuda_backend::cuda_convolutions(as_cuda(device)); }}};

const Implementations<Poolings> Poolings::implementations{
    "pooling", {[](Device&) -> Poolings& { return cpu_backend::cpu_poolings(); }, nullptr}};

const Implementations<Resamplings> Resamplings::implementations{
    "resampling pictures", {[](Device&) -> Resamplings& { return cpu_backend::cpu_resamplings(); }, nullptr}};

const Implementations<JpegDecoders> JpegDecoders::implementations{
    "decoding of JPEGs",
    {nullptr, [](Device& device) -> JpegDecoders& { return cuda_backend::cuda_jpeg_decoders(as_cuda(device)); }}};

const Implementations<Filterings> Filterings::implementations{
    "filters of pictures", {[](Device&) -> Filterings& { return cpu_backend::cpu_filterings(); }, nullptr}};

const Implementations<Regions> Regions::implementations{
    "regions of pictures", {[](Device&) -> Regions& { return cpu_backend::cpu_regions(); }, nullptr}};

const Implementations<PictureLevels> PictureLevels::implementations{
    "levels of pictures", {[](Device&) -> PictureLevels& { return cpu_backend::cpu_picture_levels(); }, nullptr}};

const Implementations<DenseNetworks> DenseNetworks::implementations{
    "perceptrons by loops", {[](Device&) -> DenseNetworks& { return cpu_backend::cpu_dense_networks(); }, nullptr}};

const Implementations<Turning> Turning::implementations{
    "turning matrices", {[](Device&) -> Turning& { return cpu_backend::cpu_turning(); }, nullptr}};

const Implementations<PatchMatchings> PatchMatchings::implementations{
    "patch matching by loops",
    {[](Device&) -> PatchMatchings& { return cpu_backend::cpu_patch_matchings(); }, nullptr}};

const Implementations<const PoolControl> PoolControl::implementations{"memory pools", {&kCpuPool, &kCudaPool}};

const Implementations<const FrontEnd> FrontEnd::implementations{"checks of texts", {&kClang, nullptr}};
const FrontEnd& FrontEnd::of_all_devices() { return kClang; }

const Implementations<const NarrowCasts> NarrowCasts::implementations{"casts to narrow integers",
                                                                      {nullptr, &kClangForNvrtc}};

}  // namespace iruka
