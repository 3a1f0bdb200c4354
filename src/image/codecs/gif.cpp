// The first frame of a GIF, on the screen that its header describes, over giflib.
#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "image/codec.h"
#include "image/palette.h"
#include "iruka/device.h"
#include "iruka/error.h"

namespace iruka::image {
namespace {

class GifDecoder final : public Decoder {
 public:
  GifDecoder(Bytes bytes, const std::string& where) : Decoder(gif_codec, bytes, where) {
    int error = 0;
    auto read = [](GifFileType* gif, GifByteType* to, int count) {
      return static_cast<GifDecoder*>(gif->UserData)->take(to, count);
    };
    gif_.reset(DGifOpen(this, read, &error));
    if (!gif_) raise(error, "in the header");
    const std::optional<uint8_t> transparent = find_frame();
    const GifImageDesc& frame = gif_->Image;
    check_sides(frame.Height, frame.Width);
    // As in browsers and Pillow, a frame that leaves the screen makes it larger.
    header_.width = std::max<int64_t>(gif_->SWidth, int64_t{frame.Left} + frame.Width);
    header_.height = std::max<int64_t>(gif_->SHeight, int64_t{frame.Top} + frame.Height);
    covers_screen_ = frame.Width == header_.width && frame.Height == header_.height;
    read_palette(transparent);
    header_.format = {palette_.color(), Dtype::uint8};
  }

  /// Rows of an interlaced frame come in four passes.
  void decode(RowTarget& rows) override {
    const GifImageDesc& frame = gif_->Image;
    const int64_t width = frame.Width, height = frame.Height;
    Array memory = Array::empty({height, width}, Dtype::uint8, cpu());
    auto* indices = static_cast<uint8_t*>(memory.data());
    static constexpr int kPasses[][2] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
    if (frame.Interlace) {
      for (auto [first, step] : kPasses) {
        for (int64_t y = first; y < height; y += step) read_row(indices + y * width, y);
      }
    } else {
      for (int64_t y = 0; y < height; ++y) read_row(indices + y * width, y);
    }
    GifRecordType next;
    // The trailer may be missing.
    if (DGifGetRecordType(gif_.get(), &next) == GIF_ERROR && gif_->Error != D_GIF_ERR_READ_FAILED)
      raise(gif_->Error, "after the last row");

    const int channels = header_.format.channels();
    const Region& window = rows.window();
    for (int64_t y = window.y; y < window.y + window.height; ++y) {
      uint8_t* to = rows.begin(y);
      if (!covers_screen_) std::memset(to, 0, static_cast<size_t>(header_.width * channels));
      const int64_t in_frame = y - frame.Top;
      if (in_frame >= 0 && in_frame < height) look_up(indices + in_frame * width, to + frame.Left * channels, in_frame);
      rows.end(y);
    }
  }

 private:
  struct Close {
    void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
  };

  int take(GifByteType* to, int count) {
    const size_t taken = std::min(static_cast<size_t>(count), bytes_.size() - position_);
    if (taken < static_cast<size_t>(count)) truncated_ = true;
    std::memcpy(to, bytes_.data() + position_, taken);
    position_ += taken;
    return static_cast<int>(taken);
  }

  /// Goes to the first frame; returns the index of its transparent colour.
  std::optional<uint8_t> find_frame() {
    std::optional<uint8_t> transparent;
    while (true) {
      GifRecordType record;
      check(DGifGetRecordType(gif_.get(), &record));
      if (record == TERMINATE_RECORD_TYPE) raise_damaged("it has no frame");
      if (record == IMAGE_DESC_RECORD_TYPE) break;
      if (record != EXTENSION_RECORD_TYPE) continue;
      int code = 0;
      GifByteType* data = nullptr;
      check(DGifGetExtension(gif_.get(), &code, &data));
      GraphicsControlBlock block;
      if (code == GRAPHICS_EXT_FUNC_CODE && data && DGifExtensionToGCB(data[0], data + 1, &block) == GIF_OK) {
        transparent.reset();
        if (block.TransparentColor >= 0) transparent = static_cast<uint8_t>(block.TransparentColor);
      }
      while (data) check(DGifGetExtensionNext(gif_.get(), &data));
    }
    check(DGifGetImageDesc(gif_.get()));
    return transparent;
  }

  void read_palette(std::optional<uint8_t> transparent) {
    const ColorMapObject* colors = gif_->Image.ColorMap ? gif_->Image.ColorMap : gif_->SColorMap;
    if (!colors) raise_unsupported("no palette");
    palette_.count = std::min(colors->ColorCount, 256);
    for (int i = 0; i < palette_.count; ++i) {
      const GifColorType& color = colors->Colors[i];
      palette_.entries[static_cast<size_t>(i)] = {color.Red, color.Green, color.Blue};
    }
    if (transparent) {
      palette_.entries[*transparent].alpha = 0;
      palette_.count = std::max(palette_.count, *transparent + 1);
    }
    palette_.has_alpha = transparent || !covers_screen_;
  }

  void read_row(uint8_t* to, int64_t y) {
    if (DGifGetLine(gif_.get(), to, gif_->Image.Width) == GIF_ERROR) {
      raise(gif_->Error, "in row " + std::to_string(y) + " of " + std::to_string(gif_->Image.Height));
    }
  }

  void look_up(const uint8_t* indices, uint8_t* to, int64_t y) const {
    if (palette_.look_up(indices, to, gif_->Image.Width, header_.format.color)) return;
    raise_damaged("row " + std::to_string(y) + " has an index outside the palette of " +
                  std::to_string(palette_.count) + " colours");
  }

  void check(int status) const {
    if (status == GIF_ERROR) raise(gif_->Error, "in the header");
  }

  [[noreturn]] void raise(int error, const std::string& place) const {
    if (error == D_GIF_ERR_NOT_ENOUGH_MEM) throw OutOfMemoryError(where_ + ": no memory to decode a GIF");
    if (truncated_) raise_truncated(place);
    const char* text = GifErrorString(error);
    raise_damaged(place + ": " + (text ? text : "error " + std::to_string(error)));
  }

  std::unique_ptr<GifFileType, Close> gif_;
  size_t position_ = 0;
  bool truncated_ = false, covers_screen_ = false;
  Palette palette_;
};

bool probe(Bytes bytes) { return starts_with(bytes, "GIF87a") || starts_with(bytes, "GIF89a"); }

constexpr std::string_view kExtensions[] = {"gif"};

}  // namespace

constinit const Codec gif_codec{"GIF", kExtensions, probe, open_as<GifDecoder>};

}  // namespace iruka::image
