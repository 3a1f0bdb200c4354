// What the globals of pickles make of their arguments.
#include "iruka/dims.h"
#include "nn/files/input.h"
#include "nn/files/pickle.h"

namespace iruka::nn {
namespace {

using Arguments = Object::Tuple;

/// The integer in argument `index`; none where there is none.
std::optional<int64_t> integer(const Arguments& arguments, size_t index) {
  if (index >= arguments.items.size()) return {};
  const auto* const number = arguments.items[index]->as<Scalar>();
  if (!number || number->dtype() != Dtype::int64) return {};
  return number->as_int64();
}

/// The same of a tuple of integers.
std::optional<std::vector<int64_t>> integers(const Arguments& arguments, size_t index) {
  const auto* const tuple = index < arguments.items.size() ? arguments.items[index]->as<Object::Tuple>() : nullptr;
  if (!tuple || tuple->items.size() > static_cast<size_t>(kMaxRank)) return {};
  std::vector<int64_t> values;
  for (size_t i = 0; i < tuple->items.size(); ++i) {
    const std::optional<int64_t> value = integer(*tuple, i);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

template <class T>
const T* argument(const Arguments& arguments, size_t index) {
  return index < arguments.items.size() ? arguments.items[index]->as<T>() : nullptr;
}

const Global* global_argument(const Arguments& arguments, size_t index) {
  const auto* const found = argument<const Global*>(arguments, index);
  return found ? *found : nullptr;
}

}  // namespace

Object Pickle::make(const Global& global, const Arguments& arguments) {
  switch (global.role) {
    case Role::ordered_mapping: return make_ordered(arguments);
    case Role::complex: return make_complex(arguments);
    case Role::encode: return make_bytes(arguments);
    case Role::device: return make_device(arguments);
    case Role::rebuild_from_type: return rebuild_from_type(arguments);
    case Role::empty_bytes:
      if (arguments.items.empty()) return {Object::Bytes{}};
      break;
    case Role::size:
      if (const auto* const extents = argument<Object::Tuple>(arguments, 0); extents && arguments.items.size() == 1) {
        charge(extents->items.size());
        return {*extents};
      }
      break;
    case Role::rebuild_parameter:
    case Role::tensor_type:
      if (const auto* const tensor = argument<TensorView>(arguments, 0)) return {*tensor};
      break;
    case Role::rebuild_tensor:
    case Role::rebuild_tensor_v2:
    case Role::rebuild_tensor_v3: return rebuild_tensor(global, arguments);
    case Role::storage:
    case Role::untyped_storage:
    case Role::dtype: break;
  }
  damaged("'" + global.path() + "' is called with " + std::to_string(arguments.items.size()) +
          " arguments that it does not take");
}

/// OrderedDict() or OrderedDict([[key, value], ...]).
Object Pickle::make_ordered(const Arguments& arguments) {
  Object::Mapping mapping{.items = {}, .ordered = true};
  if (arguments.items.empty()) return {std::move(mapping)};
  const auto* const pairs = argument<Object::List>(arguments, 0);
  if (!pairs || arguments.items.size() != 1) damaged("an OrderedDict is made of something else than a list");
  charge(pairs->items.size());
  for (const Object* pair : pairs->items) {
    const auto* const list = pair->as<Object::List>();
    const auto* const tuple = pair->as<Object::Tuple>();
    if (!list && !tuple) damaged(std::string("an OrderedDict's entry is ") + pair->kind() + ", not a pair");
    const std::vector<const Object*>& items = list ? list->items : tuple->items;
    if (items.size() != 2) damaged("an OrderedDict's entry has " + std::to_string(items.size()) + " parts, not 2");
    mapping.items.emplace_back(items[0], items[1]);
  }
  return {std::move(mapping)};
}

/// codecs.encode(text, 'latin1'): each character is a byte.
Object Pickle::make_bytes(const Arguments& arguments) {
  const auto* const text = argument<std::string>(arguments, 0);
  const auto* const encoding = argument<std::string>(arguments, 1);
  if (!text || !encoding || (*encoding != "latin1" && *encoding != "latin-1")) {
    refuse("the pickle calls '_codecs.encode' for something else than bytes. Nothing was executed");
  }
  charge(text->size() / sizeof(Object));
  std::string bytes;
  for (size_t i = 0; i < text->size(); ++i) {
    const auto lead = static_cast<uint8_t>((*text)[i]);
    if (lead < 0x80) {
      bytes += static_cast<char>(lead);
    } else if (lead < 0xc4) {  // the text is UTF-8: two bytes are characters below 256
      bytes += static_cast<char>((lead & 3) << 6 | (static_cast<uint8_t>((*text)[++i]) & 0x3f));
    } else {
      damaged("a character beyond 255 is among bytes");
    }
  }
  return {Object::Bytes{std::move(bytes)}};
}

Object Pickle::make_complex(const Arguments& arguments) {
  const auto *const real = argument<Scalar>(arguments, 0), *const imaginary = argument<Scalar>(arguments, 1);
  if (!real || !imaginary) damaged("a complex number is made of something else than two numbers");
  return {Scalar(std::complex<double>(real->as_double(), imaginary->as_double()))};
}

/// torch.device('cuda', 0) is the text 'cuda:0'.
Object Pickle::make_device(const Arguments& arguments) {
  const auto* const type = argument<std::string>(arguments, 0);
  if (!type) damaged("a torch.device is made of something else than a text");
  const std::optional<int64_t> index = integer(arguments, 1);
  return {index ? *type + ":" + std::to_string(*index) : *type};
}

/// (storage, offset, shape, strides, requires_grad, hooks); version 3 has the dtype after these, and last may come
/// flags that change the elements' meaning.
Object Pickle::rebuild_tensor(const Global& global, const Arguments& arguments) {
  const auto* const storage = argument<Object::StorageIndex>(arguments, 0);
  const std::optional<int64_t> offset = integer(arguments, 1);
  std::optional<std::vector<int64_t>> shape = integers(arguments, 2), strides = integers(arguments, 3);
  if (!storage || !offset || !shape || !strides) {
    damaged("'" + global.path() + "' is called with something else than a storage, an offset, a shape and strides of " +
            std::to_string(kMaxRank) + " axes at most");
  }
  charge(shape->size());
  std::optional<Dtype> dtype = storages_[storage->value].dtype;
  if (global.role == Role::rebuild_tensor_v3) {
    const Global* const type = global_argument(arguments, 6);
    if (!type || type->role != Role::dtype) damaged("'" + global.path() + "' is called without a dtype");
    dtype = type->dtype;
  }
  if (!dtype) damaged("'" + global.path() + "' is called with a storage without dtype");
  const size_t flags = global.role == Role::rebuild_tensor_v3 ? 7 : 6;
  if (const auto* const set = argument<Object::Mapping>(arguments, flags); set && !set->items.empty()) {
    refuse("a tensor is lazily conjugated or negated; save tensor.resolve_conj().resolve_neg()");
  }
  return {TensorView{storage->value, *dtype, *offset, std::move(*shape), std::move(*strides)}};
}

/// (function, type, arguments, state): a parameter or another subclass of torch's tensors, with attributes.
Object Pickle::rebuild_from_type(const Arguments& arguments) {
  const Global* const function = global_argument(arguments, 0);
  const Global* const type = global_argument(arguments, 1);
  const auto* const inner = argument<Object::Tuple>(arguments, 2);
  if (!function || !type || !inner || type->role != Role::tensor_type || function->role == Role::rebuild_from_type) {
    damaged("'torch._tensor._rebuild_from_type_v2' is called with something else than a function, a type and a tuple");
  }
  return make(*function, *inner);
}

/// ('storage', type, key, location, number of elements), and in the old format None for a storage that is no view.
Object Pickle::persistent(const Object& id) {
  const auto* const parts = id.as<Object::Tuple>();
  const auto* const tag = parts ? argument<std::string>(*parts, 0) : nullptr;
  if (tag && *tag != "storage") refuse("the pickle refers to a " + in_quotes(*tag) + " outside it, not to a storage");
  const Global* const type = parts ? global_argument(*parts, 1) : nullptr;
  const auto* const key = parts ? argument<std::string>(*parts, 2) : nullptr;
  const std::optional<int64_t> elements = parts ? integer(*parts, 4) : std::nullopt;
  const bool known = type && (type->role == Role::storage || type->role == Role::untyped_storage);
  if (!tag || !known || !key || !elements) damaged("a persistent id is not that of a storage");
  if (parts->items.size() > 5 && !parts->items[5]->as<Object::None>()) {
    refuse("a storage is a view of another one, as torch before 0.4 wrote; save it again with a newer torch");
  }
  constexpr size_t kLongestKey = 256;
  Storage storage{key->substr(0, kLongestKey), type->dtype, *elements};
  int64_t bytes = 0;
  if (key->size() > kLongestKey || *elements < 0 ||
      __builtin_mul_overflow(*elements, storage.element_bytes(), &bytes)) {
    refuse("the storage " + in_quotes(*key) + " claims " + std::to_string(*elements) + " elements");
  }
  const std::string identity = *key + '\0' + type->path() + '\0' + std::to_string(*elements);
  const auto [found, is_new] = storage_indices_.try_emplace(identity, storages_.size());
  if (is_new) storages_.push_back(std::move(storage));
  return {Object::StorageIndex{found->second}};
}

}  // namespace iruka::nn
