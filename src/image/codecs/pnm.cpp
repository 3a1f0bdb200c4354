// Netpbm's PBM, PGM, PPM (text and binary) and PAM. Of several pictures in a file the first one is read.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "image/codec.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(int c) { return c >= '0' && c <= '9'; }

class PnmDecoder final : public Decoder {
 public:
  PnmDecoder(Bytes bytes, const std::string& where) : Decoder(pnm_codec, bytes, where) {
    const int kind = bytes_[1] - '0';
    position_ = 2;
    int64_t channels = kind == 3 || kind == 6 ? 3 : 1;
    int64_t height = 0, width = 0;
    if (kind == 7) {
      read_pam_header(height, width, channels);
    } else {
      width = number("the width");
      height = number("the height");
      maximum_ = kind == 1 || kind == 4 ? 1 : number("the largest sample");
      // One space ends the header of a binary file. A text's space belongs to what follows.
      if (kind >= 4 && !is_space(next_byte())) raise_damaged("no space follows the header");
    }
    is_text_ = kind <= 3;
    is_bitmap_ = kind == 1 || kind == 4;
    check_sides(height, width);
    if (maximum_ < 1 || maximum_ > 65535) {
      raise_damaged("its largest sample is " + std::to_string(maximum_) + ", not 1 to 65535");
    }
    if (channels < 1 || channels > 4) raise_unsupported(std::to_string(channels) + " channels");
    static constexpr Color kColors[] = {Color::gray, Color::gray_alpha, Color::rgb, Color::rgba};
    header_ = {height, width, {kColors[channels - 1], maximum_ > 255 ? Dtype::uint16 : Dtype::uint8}};
    samples_ = width * channels;
  }

  /// A text has a digit for each sample, and a space between two unless they are bits.
  void check_plausible() const override {
    const auto height = static_cast<uint64_t>(header_.height);
    const auto row = static_cast<uint64_t>(is_text_ ? samples_ * (is_bitmap_ ? 1 : 2) : row_bytes());
    check_bytes(position_ + height * row - (is_text_ && !is_bitmap_));
  }

  void decode(RowTarget& rows) override {
    const Region& window = rows.window();
    for (int64_t y = is_text_ ? 0 : window.y; y < window.y + window.height; ++y) {
      row_ = y;
      uint8_t* to = rows.begin(y);
      if (is_text_) {
        read_text_row(to);
      } else if (is_bitmap_) {
        unpack_samples(row(y), 1, 255, to, samples_);
        for (int64_t x = 0; x < samples_; ++x) to[x] = static_cast<uint8_t>(~to[x]);  // a bit of 1 is black
      } else if (header_.format.dtype == Dtype::uint8) {
        std::memcpy(to, row(y), static_cast<size_t>(samples_));
        scale<uint8_t>(to);
      } else {
        const uint8_t* from = row(y);
        for (int64_t i = 0; i < samples_; ++i) store<uint16_t>(to, i, from[2 * i] << 8 | from[2 * i + 1]);
        scale<uint16_t>(to);
      }
      rows.end(y);
    }
  }

 private:
  void read_pam_header(int64_t& height, int64_t& width, int64_t& channels) {
    channels = 0;
    while (true) {
      skip_space();
      const std::string name = word();
      if (name == "ENDHDR") break;
      if (name == "WIDTH") {
        width = number("the width");
      } else if (name == "HEIGHT") {
        height = number("the height");
      } else if (name == "DEPTH") {
        channels = number("the depth");
      } else if (name == "MAXVAL") {
        maximum_ = number("the largest sample");
      } else {  // TUPLTYPE; the number of channels says the same
        while (next_byte() != '\n') continue;
      }
    }
    if (next_byte() != '\n') raise_damaged("no line end follows ENDHDR");
  }

  int next_byte() {
    if (position_ >= bytes_.size()) {
      if (row_ >= 0) raise_truncated_in_row(row_);
      raise_truncated("in the header");
    }
    return bytes_[position_++];
  }

  /// Skips spaces and comments, which go from '#' to the line's end.
  void skip_space() {
    while (position_ < bytes_.size()) {
      const int c = bytes_[position_];
      if (c == '#') {
        while (position_ < bytes_.size() && bytes_[position_] != '\n' && bytes_[position_] != '\r') ++position_;
      } else if (!is_space(c)) {
        return;
      } else {
        ++position_;
      }
    }
  }

  std::string word() {
    std::string text;
    while (text.size() < 16 && position_ < bytes_.size() && !is_space(bytes_[position_])) {
      text += static_cast<char>(bytes_[position_++]);
    }
    if (position_ >= bytes_.size()) raise_truncated("in the header");
    return text;
  }

  int64_t number(const char* what) {
    skip_space();
    int64_t value = 0;
    int c = next_byte();
    if (!is_digit(c)) raise_damaged(std::string(what) + " is no number");
    for (; is_digit(c); c = bytes_[position_++]) {
      value = 10 * value + (c - '0');
      if (value > INT32_MAX) raise_damaged(std::string(what) + " is more than " + std::to_string(INT32_MAX));
      if (position_ == bytes_.size()) return value;
    }
    --position_;
    return value;
  }

  int64_t row_bytes() const { return is_bitmap_ ? (header_.width + 7) / 8 : samples_ * (maximum_ > 255 ? 2 : 1); }
  const uint8_t* row(int64_t y) const { return bytes_.data() + position_ + y * row_bytes(); }

  template <class T>
  static void store(uint8_t* to, int64_t i, int64_t value) {
    reinterpret_cast<T*>(to)[i] = static_cast<T>(value);
  }

  /// Samples from 0..maximum to the whole range of T.
  template <class T>
  void scale(uint8_t* row) const {
    constexpr int64_t full = std::numeric_limits<T>::max();
    if (maximum_ == full) return;
    auto* samples = reinterpret_cast<T*>(row);
    for (int64_t i = 0; i < samples_; ++i) {
      if (samples[i] > maximum_) {
        raise_damaged("sample " + std::to_string(samples[i]) + " in row " + std::to_string(row_) + " exceeds the " +
                      "largest, " + std::to_string(maximum_));
      }
      samples[i] = static_cast<T>((samples[i] * full + maximum_ / 2) / maximum_);
    }
  }

  void read_text_row(uint8_t* to) {
    for (int64_t i = 0; i < samples_; ++i) {
      if (is_bitmap_) {
        skip_space();
        const int bit = next_byte();
        if (bit != '0' && bit != '1') raise_damaged("row " + std::to_string(row_) + " holds what is neither 0 nor 1");
        to[i] = bit == '0' ? 255 : 0;
        continue;
      }
      const int64_t value = number("a sample");
      if (value > maximum_) raise_damaged("sample " + std::to_string(value) + " exceeds " + std::to_string(maximum_));
      if (header_.format.dtype == Dtype::uint8) {
        store<uint8_t>(to, i, value);
      } else {
        store<uint16_t>(to, i, value);
      }
    }
    if (is_bitmap_) return;
    if (header_.format.dtype == Dtype::uint8) {
      scale<uint8_t>(to);
    } else {
      scale<uint16_t>(to);
    }
  }

  size_t position_ = 0;
  int64_t maximum_ = 0, samples_ = 0;
  int64_t row_ = -1;  ///< the row being read; -1 in the header
  bool is_text_ = false, is_bitmap_ = false;
};

bool probe(Bytes bytes) {
  return bytes.size() >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '7' &&
         (is_space(bytes[2]) || bytes[2] == '#');
}

constexpr std::string_view kExtensions[] = {"pnm", "pbm", "pgm", "ppm", "pam"};

}  // namespace

constinit const Codec pnm_codec{"PNM", kExtensions, probe, open_as<PnmDecoder>};

}  // namespace iruka::image
