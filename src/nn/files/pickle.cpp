// The opcodes that torch.save() writes with pickle's protocols 2 to 5.
#include "nn/files/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "nn/files/input.h"

namespace iruka::nn {
namespace {

/// Bounds the memory that a pickle's objects take.
constexpr uint64_t kMostSteps = 1 << 22;
constexpr int kHighestProtocol = 5;

namespace op {
// clang-format off
constexpr uint8_t mark = '(', stop = '.', pop = '0', pop_mark = '1', dup = '2', binfloat = 'G', binint = 'J',
                  binint1 = 'K', binint2 = 'M', none = 'N', binpersid = 'Q', reduce = 'R', binstring = 'T',
                  short_binstring = 'U', binunicode = 'X', append = 'a', build = 'b', global = 'c', appends = 'e',
                  binget = 'h', long_binget = 'j', binput = 'q', long_binput = 'r', setitem = 's', tuple = 't',
                  setitems = 'u', empty_dict = '}', empty_list = ']', empty_tuple = ')', binbytes = 'B',
                  short_binbytes = 'C', proto = 0x80, newobj = 0x81, tuple1 = 0x85, tuple2 = 0x86, tuple3 = 0x87,
                  newtrue = 0x88, newfalse = 0x89, long1 = 0x8a, long4 = 0x8b, short_binunicode = 0x8c,
                  binunicode8 = 0x8d, binbytes8 = 0x8e, stack_global = 0x93, memoize = 0x94, frame = 0x95,
                  bytearray8 = 0x96;
// clang-format on
}  // namespace op

struct RefusedOpcode {
  uint8_t opcode;
  const char* what;
};
/// Opcodes that call or import in other ways, and that files of weights do not have.
constexpr RefusedOpcode kRefused[] = {
    {'o', "makes an object by OBJ"},
    {0x92, "makes an object by NEWOBJ_EX"},
    {0x82, "refers to the registry of extensions by EXT1"},
    {0x83, "refers to the registry of extensions by EXT2"},
    {0x84, "refers to the registry of extensions by EXT4"},
    {'P', "has a persistent id in text"},
    {0x8f, "holds a set; save a list"},
    {0x90, "holds a set; save a list"},
    {0x91, "holds a frozenset; save a list"},
    {0x97, "refers to a buffer outside the file"},
    {0x98, "refers to a buffer outside the file"},
};

bool is_utf8(std::span<const uint8_t> text) {
  for (size_t i = 0; i < text.size();) {
    const uint8_t lead = text[i];
    const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length == 0 || length > text.size() - i) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((text[i + k] & 0xc0) != 0x80) return false;
    }
    const uint8_t second = length > 1 ? text[i + 1] : 0;
    const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
    const bool beyond = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f);
    if (overlong || beyond) return false;
    i += length;
  }
  return true;
}

}  // namespace

const char* Object::kind() const {
  constexpr const char* kKinds[] = {"None",   "a number",  "a large integer", "a text",    "bytes",   "a tuple",
                                    "a list", "a mapping", "a global",        "a storage", "a tensor"};
  return kKinds[content.index()];
}

const Object& Pickle::next() {
  stack_.clear();
  marks_.clear();
  memo_.clear();
  while (true) {
    charge(1);
    const auto opcode = static_cast<uint8_t>(take_number(1));
    if (opcode == op::stop) return pop();
    if (opcode == op::proto) {
      const uint64_t protocol = take_number(1);
      if (protocol > kHighestProtocol) refuse("the pickle is of protocol " + std::to_string(protocol) + ", not 2 to 5");
    } else if (opcode == op::frame) {
      take_number(8);  // where the frame ends only helps to read ahead
    } else if (!push_number(opcode) && !push_text(opcode) && !build_container(opcode) && !add_items(opcode) &&
               !use_memo(opcode) && !find_global(opcode) && !call(opcode)) {
      refuse_opcode(opcode);
    }
  }
}

bool Pickle::push_number(uint8_t opcode) {
  switch (opcode) {
    case op::none: push({Object::None{}}); return true;
    case op::newtrue: push({Scalar(true)}); return true;
    case op::newfalse: push({Scalar(false)}); return true;
    case op::binint: push({Scalar(static_cast<int32_t>(take_number(4)))}); return true;
    case op::binint1: push({Scalar(static_cast<int64_t>(take_number(1)))}); return true;
    case op::binint2: push({Scalar(static_cast<int64_t>(take_number(2)))}); return true;
    case op::long1: push_integer(take_number(1)); return true;
    case op::long4: push_integer(take_number(4)); return true;
    case op::binfloat: push({Scalar(std::bit_cast<double>(__builtin_bswap64(take_number(8))))}); return true;
    default: return false;
  }
}

/// An integer of any length; those beyond 64 bits are kept as they are.
void Pickle::push_integer(size_t count) {
  const std::span<const uint8_t> digits = take(count);
  const bool negative = count > 0 && digits.back() >= 0x80;
  uint64_t value = negative ? ~uint64_t{0} : 0;
  for (size_t i = std::min<size_t>(count, 8); i-- > 0;) value = value << 8 | digits[i];
  if (count <= 8) {
    push({Scalar(static_cast<int64_t>(value))});
  } else if (count == 9 && digits.back() == 0) {
    push({Scalar(value)});
  } else {
    push({Object::BigInteger{{reinterpret_cast<const char*>(digits.data()), count}}});
  }
}

bool Pickle::push_text(uint8_t opcode) {
  switch (opcode) {
    case op::short_binunicode: push_unicode(take_number(1)); return true;
    case op::binunicode: push_unicode(take_number(4)); return true;
    case op::binunicode8: push_unicode(take_number(8)); return true;
    case op::short_binbytes: push_bytes(take_number(1)); return true;
    case op::binbytes: push_bytes(take_number(4)); return true;
    case op::binbytes8:
    case op::bytearray8: push_bytes(take_number(8)); return true;
    case op::short_binstring:
    case op::binstring: {  // Python 2's str: a text where it can be one
      const std::span<const uint8_t> bytes = take(take_number(opcode == op::short_binstring ? 1 : 4));
      std::string text(bytes.begin(), bytes.end());
      is_utf8(bytes) ? push({std::move(text)}) : push({Object::Bytes{std::move(text)}});
      return true;
    }
    default: return false;
  }
}

void Pickle::push_unicode(size_t count) {
  const std::span<const uint8_t> text = take(count);
  if (!is_utf8(text)) damaged("a text is not UTF-8");
  push({std::string(text.begin(), text.end())});
}

void Pickle::push_bytes(size_t count) {
  const std::span<const uint8_t> bytes = take(count);
  push({Object::Bytes{std::string(bytes.begin(), bytes.end())}});
}

bool Pickle::build_container(uint8_t opcode) {
  switch (opcode) {
    case op::mark: marks_.push_back(stack_.size()); return true;
    case op::empty_dict: push({Object::Mapping{}}); return true;
    case op::empty_list: push({Object::List{}}); return true;
    case op::empty_tuple: push({Object::Tuple{}}); return true;
    case op::tuple: push({Object::Tuple{pop_to_mark()}}); return true;
    case op::tuple1:
    case op::tuple2:
    case op::tuple3: {
      std::vector<const Object*> items(opcode - op::tuple1 + 1U);
      std::generate(items.rbegin(), items.rend(), [this] { return &pop(); });
      push({Object::Tuple{std::move(items)}});
      return true;
    }
    default: return false;
  }
}

bool Pickle::add_items(uint8_t opcode) {
  if (opcode != op::append && opcode != op::appends && opcode != op::setitem && opcode != op::setitems) return false;
  std::vector<const Object*> items;
  if (opcode == op::appends || opcode == op::setitems) {
    items = pop_to_mark();
  } else {
    items.resize(opcode == op::append ? 1 : 2);
    std::generate(items.rbegin(), items.rend(), [this] { return &pop(); });
  }
  Object& target = top();
  if (opcode == op::append || opcode == op::appends) {
    auto* const list = std::get_if<Object::List>(&target.content);
    if (!list) refuse(std::string("the pickle appends to ") + target.kind() + ", not to a list");
    list->items.insert(list->items.end(), items.begin(), items.end());
    return true;
  }
  auto* const mapping = std::get_if<Object::Mapping>(&target.content);
  if (!mapping) refuse(std::string("the pickle sets items of ") + target.kind() + ", not of a mapping");
  if (items.size() % 2 != 0) damaged("a key lacks its value");
  for (size_t i = 0; i < items.size(); i += 2) mapping->items.emplace_back(items[i], items[i + 1]);
  return true;
}

bool Pickle::use_memo(uint8_t opcode) {
  switch (opcode) {
    case op::binput: memo_[take_number(1)] = &top(); return true;
    case op::long_binput: memo_[take_number(4)] = &top(); return true;
    case op::memoize: memo_[memo_.size()] = &top(); return true;
    case op::binget:
    case op::long_binget: {
      const uint64_t index = take_number(opcode == op::binget ? 1 : 4);
      const auto found = memo_.find(index);
      if (found == memo_.end()) damaged("it refers to object " + std::to_string(index) + ", which it did not keep");
      stack_.push_back(found->second);
      return true;
    }
    case op::dup: stack_.push_back(&top()); return true;
    case op::pop: pop(); return true;
    case op::pop_mark: pop_to_mark(); return true;
    default: return false;
  }
}

bool Pickle::find_global(uint8_t opcode) {
  std::string module, name;
  if (opcode == op::global) {
    module = take_line();
    name = take_line();
  } else if (opcode == op::stack_global) {
    const Object &second = pop(), &first = pop();
    if (!first.as<std::string>() || !second.as<std::string>()) {
      refuse(std::string("the pickle names a global by ") + first.kind() + " and " + second.kind() + ", not by texts");
    }
    module = *first.as<std::string>();
    name = *second.as<std::string>();
  } else {
    return false;
  }
  const Global* const found = nn::find_global(module, name);
  if (!found) refuse(why_refused(module, name));
  push({found});
  return true;
}

bool Pickle::call(uint8_t opcode) {
  switch (opcode) {
    case op::reduce:
    case op::newobj: call_global(); return true;
    case op::build: set_state(); return true;
    case op::binpersid: push(persistent(pop())); return true;
    default: return false;
  }
}

void Pickle::call_global() {
  const Object &arguments = pop(), &callee = pop();
  const auto* const global = callee.as<const Global*>();
  if (!global) refuse(std::string("the pickle calls ") + callee.kind() + ", not a global");
  const auto* const list = arguments.as<Object::Tuple>();
  if (!list) damaged("the arguments of '" + (*global)->path() + "' are " + arguments.kind() + ", not a tuple");
  push(make(**global, *list));
}

/// An OrderedDict's attributes (a state_dict has '_metadata', the versions of its modules) are left out.
void Pickle::set_state() {
  const Object& state = pop();
  const auto* const target = top().as<Object::Mapping>();
  if (!target || !target->ordered || !state.as<Object::Mapping>()) {
    refuse(std::string("the pickle sets the state of ") + top().kind() + " to " + state.kind() +
           "; only an OrderedDict's attributes are expected. Nothing was executed");
  }
}

void Pickle::refuse_opcode(uint8_t opcode) {
  if (opcode == 'i') {  // INST names what it makes
    const std::string_view module = take_line(), name = take_line();
    refuse(why_refused(module, name));
  }
  for (const RefusedOpcode& row : kRefused) {
    if (row.opcode == opcode) refuse(std::string("the pickle ") + row.what + ". Nothing was executed");
  }
  constexpr std::string_view kProtocol0 = "FILSVdglp";
  if (kProtocol0.find(static_cast<char>(opcode)) != kProtocol0.npos) {
    refuse(std::string("the pickle is of protocol 0 or 1 (opcode '") + static_cast<char>(opcode) +
           "'); 2 to 5 are read. Save it again with torch.save()'s defaults");
  }
  damaged("there is no opcode " + std::to_string(opcode));
}

/// Counts opcodes, and what they copy of older objects.
void Pickle::charge(uint64_t steps) {
  steps_ += steps;
  if (steps_ > kMostSteps) refuse("the pickle has more than " + std::to_string(kMostSteps) + " steps");
}

void Pickle::push(Object object) { stack_.push_back(&objects_.emplace_back(std::move(object))); }

const Object& Pickle::pop() {
  const Object& object = top();
  stack_.pop_back();
  return object;
}

Object& Pickle::top() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) damaged("it takes an object from an empty stack");
  return *stack_.back();
}

std::vector<const Object*> Pickle::pop_to_mark() {
  if (marks_.empty()) damaged("it lacks a mark");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<const Object*> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

std::span<const uint8_t> Pickle::take(uint64_t count) {
  if (count > bytes_.size() - position_) {
    damaged(std::to_string(count) + " bytes are to follow, and " + std::to_string(bytes_.size() - position_) + " do");
  }
  position_ += count;
  return bytes_.subspan(position_ - count, count);
}

/// Little-endian.
uint64_t Pickle::take_number(int count) {
  const std::span<const uint8_t> bytes = take(static_cast<uint64_t>(count));
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

std::string_view Pickle::take_line() {
  const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(position_);
  const auto end = std::find(begin, bytes_.end(), '\n');
  if (end == bytes_.end()) damaged("a line has no end");
  const auto length = static_cast<size_t>(end - begin);
  const std::span<const uint8_t> line = take(length);
  take(1);
  return {reinterpret_cast<const char*>(line.data()), length};
}

void Pickle::damaged(const std::string& problem) const {
  raise_value_error(where_, "damaged pickle near byte " + std::to_string(position_) + ": " + problem);
}

void Pickle::refuse(const std::string& problem) const { raise_value_error(where_, problem); }

}  // namespace iruka::nn
