// Written by .ci/guide.
#include "guide.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page0[] = {
#embed "../../Sources/Runner/Runner.docc/Guide/first-steps.md"
};
static const unsigned char page1[] = {
#embed "../../Sources/Console/Console.docc/Guide/keys.md"
};
static const unsigned char page2[] = {
#embed "../../Sources/Console/Console.docc/Guide/plain-lines.md"
};
static const unsigned char page3[] = {
#embed "../../Sources/Runner/Runner.docc/Guide/headless.md"
};
static const unsigned char page4[] = {
#embed "../../Sources/Rules/Rules.docc/Guide/why.md"
};
static const unsigned char page5[] = {
#embed "../../Sources/ProxyServer/ProxyServer.docc/Guide/troubleshooting.md"
};
static const unsigned char page6[] = {
#embed "../../Sources/Rules/Rules.docc/Guide/profile.md"
};
static const unsigned char page7[] = {
#embed "../../Sources/Recording/Recording.docc/Guide/filters.md"
};
static const unsigned char page8[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/block.md"
};
static const unsigned char page9[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/allow.md"
};
static const unsigned char page10[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/no-caching.md"
};
static const unsigned char page11[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/block-cookies.md"
};
static const unsigned char page12[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/rewrite.md"
};
static const unsigned char page13[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/map-remote.md"
};
static const unsigned char page14[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/map-local.md"
};
static const unsigned char page15[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/mirror.md"
};
static const unsigned char page16[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/breakpoints.md"
};
static const unsigned char page17[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/dns-spoofing.md"
};
static const unsigned char page18[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/throttle.md"
};
static const unsigned char page19[] = {
#embed "../../Sources/Runner/Runner.docc/Guide/trust.md"
};
static const unsigned char page20[] = {
#embed "../../Sources/Runner/Runner.docc/Guide/browser.md"
};
static const unsigned char page21[] = {
#embed "../../Sources/Recording/Recording.docc/Guide/sessions.md"
};
static const unsigned char page22[] = {
#embed "../../Sources/Sharing/Sharing.docc/Guide/export.md"
};
static const unsigned char page23[] = {
#embed "../../Sources/Masking/Masking.docc/Guide/masking.md"
};
static const unsigned char page24[] = {
#embed "../../Sources/Runner/Runner.docc/Guide/repeat-and-compare.md"
};
static const unsigned char page25[] = {
#embed "../../Sources/Runner/Runner.docc/Guide/exit-codes.md"
};

static const struct sluice_page pages[] = {
    {"First steps", "first-steps", page0, sizeof page0},
    {"First steps", "keys", page1, sizeof page1},
    {"First steps", "plain-lines", page2, sizeof page2},
    {"First steps", "headless", page3, sizeof page3},
    {"First steps", "why", page4, sizeof page4},
    {"First steps", "troubleshooting", page5, sizeof page5},
    {"Rules", "profile", page6, sizeof page6},
    {"Rules", "filters", page7, sizeof page7},
    {"Tools", "block", page8, sizeof page8},
    {"Tools", "allow", page9, sizeof page9},
    {"Tools", "no-caching", page10, sizeof page10},
    {"Tools", "block-cookies", page11, sizeof page11},
    {"Tools", "rewrite", page12, sizeof page12},
    {"Tools", "map-remote", page13, sizeof page13},
    {"Tools", "map-local", page14, sizeof page14},
    {"Tools", "mirror", page15, sizeof page15},
    {"Tools", "breakpoints", page16, sizeof page16},
    {"Tools", "dns-spoofing", page17, sizeof page17},
    {"Tools", "throttle", page18, sizeof page18},
    {"HTTPS", "trust", page19, sizeof page19},
    {"Getting traffic in", "browser", page20, sizeof page20},
    {"Sessions", "sessions", page21, sizeof page21},
    {"Sessions", "export", page22, sizeof page22},
    {"Sessions", "masking", page23, sizeof page23},
    {"Sessions", "repeat-and-compare", page24, sizeof page24},
    {"Reference", "exit-codes", page25, sizeof page25},
};

const struct sluice_page *sluice_page_at(size_t number) {
    return number < sizeof pages / sizeof *pages ? pages + number : NULL;
}
