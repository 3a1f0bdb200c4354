// jbigkit's functions that libtiff calls, as a library without JBIG: each reports an error. A wheel has it in place of
// jbigkit, whose licence is the GPL. Iruka's decoder refuses JBIG before libtiff would call these.
#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
constexpr int kNotImplemented = 0x10 << 4;  // jbig.h: JBG_EIMPL
}

EXPORT void jbg_dec_init(void*) {}
EXPORT int jbg_dec_in(void*, unsigned char*, unsigned long, unsigned long*) { return kNotImplemented; }
EXPORT unsigned char* jbg_dec_getimage(const void*, int) { return nullptr; }
EXPORT unsigned long jbg_dec_getsize(const void*) { return 0; }
EXPORT void jbg_dec_free(void*) {}
EXPORT const char* jbg_strerror(int) { return "this build has no JBIG"; }
EXPORT int jbg_newlen(unsigned char*, unsigned long) { return kNotImplemented; }
EXPORT void jbg_enc_init(void*, unsigned long, unsigned long, int, unsigned char**,
                         void (*)(unsigned char*, unsigned long, void*), void*) {}
EXPORT void jbg_enc_out(void*) {}
EXPORT void jbg_enc_free(void*) {}
