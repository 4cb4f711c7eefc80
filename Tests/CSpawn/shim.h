#ifndef SLUICE_CSPAWN_SHIM_H
#define SLUICE_CSPAWN_SHIM_H

#include <spawn.h>

/// Has a program run in a directory.
static inline int sluice_spawn_in(posix_spawn_file_actions_t *actions, const char *directory) {
#ifdef __GLIBC__
    // Declared only to those who ask for all of GNU, as the toolchain's module does not.
    extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);
#endif
    return posix_spawn_file_actions_addchdir_np(actions, directory);
}

/// Has a program lead a session of its own, which the first terminal that it opens then controls.
static inline short sluice_spawn_session(void) {
#ifdef __GLIBC__
    // POSIX_SPAWN_SETSID, shown only to those who ask for all of GNU.
    return 0x80;
#else
    return POSIX_SPAWN_SETSID;
#endif
}

/// Has a program inherit no descriptor but its standard streams, where the C library can; elsewhere an attribute does it.
static inline int sluice_spawn_closing_rest(posix_spawn_file_actions_t *actions) {
#ifdef __GLIBC__
    extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
    return posix_spawn_file_actions_addclosefrom_np(actions, 3);
#else
    return 0;
#endif
}

#endif
