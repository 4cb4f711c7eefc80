#include <stdint.h>

// An empty package of ICU's data (format "CmnD") in place of the 34 MB that the toolchain's Foundation brings into a
// static program, two fifths of it. Foundation needs them only for formatters, calendars, time zones and locales, which
// `.ci/arrows` forbids in Sources. The name has ICU's version: with another toolchain this package is not linked.
const struct {
    uint16_t headerSize;
    uint8_t magic[2];
    uint16_t infoSize, reserved;
    uint8_t isBigEndian, charset, unitSize, padding;
    uint8_t format[4], formatVersion[4], dataVersion[4];
    uint32_t alignment[2];
    uint32_t items;
} icudt76_dat __attribute__((aligned(16))) = {
    32, {0xDA, 0x27}, 20, 0, 0, 0, 2, 0, {'C', 'm', 'n', 'D'}, {1, 0, 0, 0}, {76, 1, 0, 0}, {0, 0}, 0,
};
