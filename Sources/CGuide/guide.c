// Written by .ci/guide.
#include "guide.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char page0[] = {
#embed "../../Sources/Runner/Runner.docc/Guide/first-steps.md"
};
static const unsigned char page1[] = {
#embed "../../Sources/Console/Console.docc/Guide/console.md"
};
static const unsigned char page2[] = {
#embed "../../Sources/Console/Console.docc/Guide/keys.md"
};
static const unsigned char page3[] = {
#embed "../../Sources/Console/Console.docc/Guide/plain-lines.md"
};
static const unsigned char page4[] = {
#embed "../../Sources/Runner/Runner.docc/Guide/headless.md"
};
static const unsigned char page5[] = {
#embed "../../Sources/Clients/Clients.docc/Guide/browser.md"
};
static const unsigned char page6[] = {
#embed "../../Sources/Runner/Runner.docc/Guide/control.md"
};
static const unsigned char page7[] = {
#embed "../../Sources/Agents/Agents.docc/Guide/agents.md"
};
static const unsigned char page8[] = {
#embed "../../Sources/Rules/Rules.docc/Guide/why.md"
};
static const unsigned char page9[] = {
#embed "../../Sources/ProxyServer/ProxyServer.docc/Guide/troubleshooting.md"
};
static const unsigned char page10[] = {
#embed "../../Sources/Diagnosis/Diagnosis.docc/Guide/doctor.md"
};
static const unsigned char page11[] = {
#embed "../../Sources/CharlesFiles/CharlesFiles.docc/Guide/charles.md"
};
static const unsigned char page12[] = {
#embed "../../Sources/Rules/Rules.docc/Guide/profile.md"
};
static const unsigned char page13[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/rules-by-example.md"
};
static const unsigned char page14[] = {
#embed "../../Sources/Recording/Recording.docc/Guide/filters.md"
};
static const unsigned char page15[] = {
#embed "../../Sources/Recording/Recording.docc/Guide/places.md"
};
static const unsigned char page16[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/block.md"
};
static const unsigned char page17[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/allow.md"
};
static const unsigned char page18[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/no-caching.md"
};
static const unsigned char page19[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/block-cookies.md"
};
static const unsigned char page20[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/rewrite.md"
};
static const unsigned char page21[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/map-remote.md"
};
static const unsigned char page22[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/map-local.md"
};
static const unsigned char page23[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/mirror.md"
};
static const unsigned char page24[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/breakpoints.md"
};
static const unsigned char page25[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/dns-spoofing.md"
};
static const unsigned char page26[] = {
#embed "../../Sources/Tools/Tools.docc/Guide/throttle.md"
};
static const unsigned char page27[] = {
#embed "../../Sources/ProxyServer/ProxyServer.docc/Guide/traffic.md"
};
static const unsigned char page28[] = {
#embed "../../Sources/ProxyServer/ProxyServer.docc/Guide/modes.md"
};
static const unsigned char page29[] = {
#embed "../../Sources/Description/Description.docc/Guide/streams.md"
};
static const unsigned char page30[] = {
#embed "../../Sources/Runner/Runner.docc/Guide/trust.md"
};
static const unsigned char page31[] = {
#embed "../../Sources/Diagnosis/Diagnosis.docc/Guide/tls.md"
};
static const unsigned char page32[] = {
#embed "../../Sources/ProxyServer/ProxyServer.docc/Guide/upstream.md"
};
static const unsigned char page33[] = {
#embed "../../Sources/ProxyServer/ProxyServer.docc/Guide/client-certificates.md"
};
static const unsigned char page34[] = {
#embed "../../Sources/ProxyServer/ProxyServer.docc/Guide/proxy-authentication.md"
};
static const unsigned char page35[] = {
#embed "../../Sources/Recording/Recording.docc/Guide/sessions.md"
};
static const unsigned char page36[] = {
#embed "../../Sources/Recording/Recording.docc/Guide/rotation.md"
};
static const unsigned char page37[] = {
#embed "../../Sources/Recording/Recording.docc/Guide/privacy.md"
};
static const unsigned char page38[] = {
#embed "../../Sources/Formats/Formats.docc/Guide/export.md"
};
static const unsigned char page39[] = {
#embed "../../Sources/Formats/Formats.docc/Guide/json.md"
};
static const unsigned char page40[] = {
#embed "../../Sources/Store/Store.docc/Guide/store.md"
};
static const unsigned char page41[] = {
#embed "../../Sources/Masking/Masking.docc/Guide/masking.md"
};
static const unsigned char page42[] = {
#embed "../../Sources/Telemetry/Telemetry.docc/Guide/opentelemetry.md"
};
static const unsigned char page43[] = {
#embed "../../Sources/Clients/Clients.docc/Guide/repeat-and-compare.md"
};
static const unsigned char page44[] = {
#embed "../../Sources/Clients/Clients.docc/Guide/replay.md"
};
static const unsigned char page45[] = {
#embed "../../Sources/ProxyServer/ProxyServer.docc/Guide/limits.md"
};
static const unsigned char page46[] = {
#embed "../../Sources/Runner/Runner.docc/Guide/exit-codes.md"
};

static const struct sluice_page pages[] = {
    {"First steps", "first-steps", page0, sizeof page0},
    {"First steps", "console", page1, sizeof page1},
    {"First steps", "keys", page2, sizeof page2},
    {"First steps", "plain-lines", page3, sizeof page3},
    {"First steps", "headless", page4, sizeof page4},
    {"First steps", "browser", page5, sizeof page5},
    {"First steps", "control", page6, sizeof page6},
    {"First steps", "agents", page7, sizeof page7},
    {"First steps", "why", page8, sizeof page8},
    {"First steps", "troubleshooting", page9, sizeof page9},
    {"First steps", "doctor", page10, sizeof page10},
    {"First steps", "charles", page11, sizeof page11},
    {"Rules", "profile", page12, sizeof page12},
    {"Rules", "rules-by-example", page13, sizeof page13},
    {"Rules", "filters", page14, sizeof page14},
    {"Rules", "places", page15, sizeof page15},
    {"Tools", "block", page16, sizeof page16},
    {"Tools", "allow", page17, sizeof page17},
    {"Tools", "no-caching", page18, sizeof page18},
    {"Tools", "block-cookies", page19, sizeof page19},
    {"Tools", "rewrite", page20, sizeof page20},
    {"Tools", "map-remote", page21, sizeof page21},
    {"Tools", "map-local", page22, sizeof page22},
    {"Tools", "mirror", page23, sizeof page23},
    {"Tools", "breakpoints", page24, sizeof page24},
    {"Tools", "dns-spoofing", page25, sizeof page25},
    {"Tools", "throttle", page26, sizeof page26},
    {"Getting traffic in and out", "traffic", page27, sizeof page27},
    {"Getting traffic in and out", "modes", page28, sizeof page28},
    {"Getting traffic in and out", "streams", page29, sizeof page29},
    {"Getting traffic in and out", "trust", page30, sizeof page30},
    {"Getting traffic in and out", "tls", page31, sizeof page31},
    {"Getting traffic in and out", "upstream", page32, sizeof page32},
    {"Getting traffic in and out", "client-certificates", page33, sizeof page33},
    {"Getting traffic in and out", "proxy-authentication", page34, sizeof page34},
    {"Sessions", "sessions", page35, sizeof page35},
    {"Sessions", "rotation", page36, sizeof page36},
    {"Sessions", "privacy", page37, sizeof page37},
    {"Sessions", "export", page38, sizeof page38},
    {"Sessions", "json", page39, sizeof page39},
    {"Sessions", "store", page40, sizeof page40},
    {"Sessions", "masking", page41, sizeof page41},
    {"Sessions", "opentelemetry", page42, sizeof page42},
    {"Sessions", "repeat-and-compare", page43, sizeof page43},
    {"Sessions", "replay", page44, sizeof page44},
    {"Reference", "limits", page45, sizeof page45},
    {"Reference", "exit-codes", page46, sizeof page46},
};

const struct sluice_page *sluice_page_at(size_t number) {
    return number < sizeof pages / sizeof *pages ? pages + number : NULL;
}
