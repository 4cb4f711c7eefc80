#include "postgres.h"

#include <dlfcn.h>

// A union, because C has no cast from a data pointer to a function pointer.
#define SLUICE_DEFINE(type, name, parameters, arguments) \
    static union { void *address; type (*call) parameters; } name##_; \
    type sluice_##name parameters { return name##_.call arguments; }
SLUICE_LIBPQ(SLUICE_DEFINE)

static void drop(void *argument, const char *text) {
    (void)argument;
    (void)text;
}

void sluice_drop_notices(PGconn *conn) { sluice_PQsetNoticeProcessor(conn, drop, NULL); }

bool sluice_open_libpq(void) {
    static const char *const names[] = {
#ifdef __APPLE__
        "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
#else
        "libpq.so.5",
#endif
    };
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return false;
#define SLUICE_FIND(type, name, parameters, arguments) \
    if ((name##_.address = dlsym(library, #name)) == NULL) return false;
    SLUICE_LIBPQ(SLUICE_FIND)
    return true;
}
