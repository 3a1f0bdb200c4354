#include "jit/raw_arguments.h"

#include <algorithm>
#include <cstring>

#include "core/device.h"
#include "iruka/error.h"

namespace iruka::jit {
namespace {

constexpr size_t kAlignment = 64;

/// An argument on its way to a parameter's bytes.
struct Conversion {
  const std::string& kernel;
  const RawParameter& parameter;
  size_t number;  ///< of the argument, from 0

  std::string place() const {
    return kernel + "(): argument " + std::to_string(number + 1) + " (" + parameter.to_string() + ") ";
  }
  [[noreturn]] void refuse_type(const std::string& what) const { throw TypeError(place() + what); }

  void store(const RawArgument& given, std::byte* to) const;
  void store_address(const void* address, std::byte* to) const { std::memcpy(to, &address, sizeof(address)); }
  void store_elements(const void* address, std::optional<Dtype> dtype, bool is_writable, std::byte* to) const;
  void store_number(const Scalar& number, std::byte* to) const;
  void store_unknown(const Scalar& number, std::byte* to) const;
};

bool is_bytewise(RawType type) {
  return type == RawType::void_ || type == RawType::char_ || type == RawType::structure;
}

/// Whether a pointer of this type may point to elements of `dtype`, which may be none of Iruka's.
bool takes(const RawParameter& pointer, std::optional<Dtype> dtype) {
  if (is_bytewise(pointer.type) || pointer.dtype() == Dtype::uint8) return true;
  if (!dtype) return false;
  if (pointer.type == RawType::pointer) return is_integer(*dtype) && itemsize(*dtype) == sizeof(void*);
  const Dtype own = *pointer.dtype();
  return own == *dtype || (is_integer(own) && is_integer(*dtype) && itemsize(own) == itemsize(*dtype));
}

/// The only element, which a GPU's pending work may still write.
Scalar number_in(const Array& array) {
  alignas(16) std::byte element[Buffer::kHeldBytes];
  Device& device = array.device();
  device.copy(element, array.data(), static_cast<size_t>(array.itemsize()));
  device.synchronize_stream(device.current_stream());
  return Scalar::load(array.dtype(), element);
}

void Conversion::store_elements(const void* address, std::optional<Dtype> dtype, bool is_writable,
                                std::byte* to) const {
  const auto what = [&] {
    return dtype ? std::string("is an array of ") + name(*dtype) : "is an array whose dtype no kernel has";
  };
  if (parameter.type == RawType::unknown) {
    if (parameter.size != sizeof(void*))
      refuse_type(what() + ", which is passed as 8 bytes: the address of its memory");
  } else if (!parameter.is_pointer) {
    refuse_type(what() + "; the parameter is a value, so give a number, as x.item()");
  } else if (!takes(parameter, dtype)) {
    refuse_type(what() + "; give x.astype or x.view of the pointer's type, or change the parameter");
  }
  if (!is_writable && parameter.type != RawType::unknown && !parameter.is_const)
    throw ValueError(place() + "is a read-only array; the kernel may write to it, because the pointer is not const");
  store_address(address, to);
}

void Conversion::store_unknown(const Scalar& given, std::byte* to) const {
  const auto store_as = [&](Dtype dtype) { given.store(dtype, to); };
  if (given.weak()) {
    constexpr Dtype kIntegers[][2] = {{Dtype::int8, Dtype::uint8},
                                      {Dtype::int16, Dtype::uint16},
                                      {Dtype::int32, Dtype::uint32},
                                      {Dtype::int64, Dtype::uint64}};
    const bool is_integer = given.kind() <= Kind::unsigned_integer;
    for (const auto& [as_signed, as_unsigned] : kIntegers) {
      if (!is_integer || itemsize(as_signed) != parameter.size) continue;
      if (given.fits(as_signed)) return store_as(as_signed);
      if (given.fits(as_unsigned)) return store_as(as_unsigned);
      throw OverflowError(place() + "is " + given.to_string() + ", which does not fit into so many bytes");
    }
    if (given.kind() == Kind::floating && parameter.size == 4) return store_as(Dtype::float32);
    if (given.kind() == Kind::floating && parameter.size == 8) return store_as(Dtype::float64);
    if (given.kind() == Kind::complex && parameter.size == 8) return store_as(Dtype::complex64);
    if (given.kind() == Kind::complex && parameter.size == 16) return store_as(Dtype::complex128);
  } else if (itemsize(given.dtype()) == parameter.size) {
    return store_as(given.dtype());
  }
  refuse_type("is " + given.to_string() + " of type " + name(given.dtype()) +
              "; the code has no types, so give a NumPy scalar of the parameter's type");
}

void Conversion::store_number(const Scalar& given, std::byte* to) const {
  const std::optional<Dtype> wanted = parameter.dtype();
  const Kind kind = given.kind();
  if (parameter.is_pointer) {
    if (!is_integer(given.dtype()))
      refuse_type("is the number " + given.to_string() + "; give an array, an address or None");
    if (!given.fits(Dtype::uint64)) throw OverflowError(place() + "is " + given.to_string() + ", which is no address");
    const uint64_t address = given.as_uint64();
    std::memcpy(to, &address, sizeof(address));
  } else if (parameter.type == RawType::unknown) {
    store_unknown(given, to);
  } else if (!wanted) {
    const bool is_typed = !given.weak() || kind == Kind::complex;
    if (!is_typed || itemsize(given.dtype()) != parameter.size)
      refuse_type("is the number " + given.to_string() + " of type " + name(given.dtype()) +
                  "; give a structured NumPy scalar or bytes of the structure's size");
    given.store(given.dtype(), to);
  } else if (iruka::kind(*wanted) <= Kind::unsigned_integer) {
    if (kind > Kind::unsigned_integer)
      refuse_type("is " + given.to_string() + "; a " + name(given.dtype()) +
                  " does not become an integer by itself, so give int(it)");
    if (!given.fits(*wanted))
      throw OverflowError(place() + "is " + given.to_string() + ", which the type does not hold");
    given.store(*wanted, to);
  } else {
    if (kind == Kind::complex && !is_complex(*wanted))
      refuse_type("is " + given.to_string() + "; a complex number does not become a real one by itself");
    given.store(*wanted, to);
  }
}

void Conversion::store(const RawArgument& given, std::byte* to) const {
  switch (given.kind()) {
    case RawArgument::Kind::array: {
      const Array& array = given.array();
      if (!parameter.is_pointer && array.is_value() && parameter.type != RawType::unknown)
        return store_number(number_in(array), to);
      return store_elements(array.data(), array.dtype(), array.writable(), to);
    }
    case RawArgument::Kind::number: return store_number(given.number(), to);
    case RawArgument::Kind::memory: return store_elements(given.address(), given.dtype(), given.is_writable(), to);
    case RawArgument::Kind::address:
      if (!parameter.is_pointer && (parameter.type != RawType::unknown || parameter.size != sizeof(void*)))
        refuse_type(std::string("is ") + (given.address() ? "an address" : "None") + "; the parameter is no pointer");
      return store_address(given.address(), to);
    case RawArgument::Kind::bytes:
      if (parameter.is_pointer || given.bytes().size() != parameter.size ||
          (parameter.type != RawType::structure && parameter.type != RawType::unknown &&
           !is_complex(*parameter.dtype())))
        refuse_type("is a structure of " + std::to_string(given.bytes().size()) +
                    " bytes; the parameter is another type");
      std::memcpy(to, given.bytes().data(), given.bytes().size());
  }
}

/// The parameter that an argument has where the driver does not tell the kernel's.
RawParameter guessed(const RawArgument& given) {
  RawParameter parameter;
  parameter.size = parameter.align = sizeof(void*);
  if (given.kind() == RawArgument::Kind::number) {
    parameter.size = static_cast<uint32_t>(itemsize(given.number().dtype()));
  } else if (given.kind() == RawArgument::Kind::bytes) {
    parameter.size = static_cast<uint32_t>(given.bytes().size());
  }
  return parameter;
}

}  // namespace

RawValues::RawValues(const std::string& kernel, const RawSignature& signature, std::span<const RawArgument> arguments,
                     const Device& device)
    : signature_(&signature) {
  if (!signature.is_known) {
    for (const RawArgument& each : arguments) guessed_.add(guessed(each));
    signature_ = &guessed_;
  }
  const std::vector<RawParameter>& parameters = signature_->parameters;
  if (arguments.size() != parameters.size()) {
    std::string list;
    for (const RawParameter& parameter : parameters) list += (list.empty() ? "" : ", ") + parameter.to_string();
    throw TypeError(kernel + "(): the kernel has " + std::to_string(parameters.size()) + " parameters (" + list +
                    "), not " + std::to_string(arguments.size()));
  }
  if (signature_->bytes > device.target().most_argument_bytes)
    throw ValueError(kernel + "(): the parameters have " + std::to_string(signature_->bytes) + " bytes; a launch on " +
                     device.name() + " takes at most " + std::to_string(device.target().most_argument_bytes));
  block_ = inline_;
  if (signature_->bytes > sizeof(inline_)) {
    heap_ = std::make_unique<std::byte[]>(signature_->bytes + kAlignment);
    const auto address = reinterpret_cast<uintptr_t>(heap_.get());
    block_ = heap_.get() + (kAlignment - address % kAlignment);
  }
  for (size_t k = 0; k < arguments.size(); ++k)
    Conversion{kernel, parameters[k], k}.store(arguments[k], block_ + parameters[k].offset);
}

std::span<const ParameterBytes> RawValues::parameters() {
  const std::vector<RawParameter>& all = signature_->parameters;
  ParameterBytes* list = few_;
  if (all.size() > std::size(few_)) {
    many_.resize(all.size());
    list = many_.data();
  }
  for (size_t k = 0; k < all.size(); ++k) list[k] = {block_ + all[k].offset, all[k].size};
  return {list, all.size()};
}

Device& device_of(const std::string& kernel, std::span<const RawArgument> arguments) {
  Device* found = nullptr;
  for (const RawArgument& each : arguments) {
    if (each.kind() != RawArgument::Kind::array) continue;
    Device& own = each.array().device();
    if (!found) found = &own;
    if (found != &own)
      throw ValueError(kernel + "(): the arrays lie on " + found->name() + " and " + own.name() +
                       "; x.to_device copies one");
  }
  return found ? *found : default_device();
}

}  // namespace iruka::jit
