#include "page.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char values[] = {
#embed "Web/values.js"
};
static const unsigned char list[] = {
#embed "Web/list.js"
};
static const unsigned char language[] = {
#embed "Web/language.js"
};
static const unsigned char language_keys[] = {
#embed "Web/language-keys.js"
};
static const unsigned char filter[] = {
#embed "Web/filter.js"
};
static const unsigned char failures[] = {
#embed "Web/failures.js"
};
static const unsigned char bodies[] = {
#embed "Web/bodies.js"
};
static const unsigned char details[] = {
#embed "Web/details.js"
};
static const unsigned char sections[] = {
#embed "Web/sections.js"
};
static const unsigned char keys[] = {
#embed "Web/keys.js"
};
static const unsigned char style[] = {
#embed "Web/page.css"
};
static const unsigned char body[] = {
#embed "Web/body.html"
};

static const struct sluice_page_file files[] = {
    {"values.js", values, sizeof values},
    {"list.js", list, sizeof list},
    {"language.js", language, sizeof language},
    {"language-keys.js", language_keys, sizeof language_keys},
    {"filter.js", filter, sizeof filter},
    {"failures.js", failures, sizeof failures},
    {"bodies.js", bodies, sizeof bodies},
    {"details.js", details, sizeof details},
    {"sections.js", sections, sizeof sections},
    {"keys.js", keys, sizeof keys},
    {"page.css", style, sizeof style},
    {"body.html", body, sizeof body},
};

const struct sluice_page_file *sluice_page_file_at(size_t number) {
    return number < sizeof files / sizeof *files ? files + number : NULL;
}
