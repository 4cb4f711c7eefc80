#ifndef SLUICE_BUILD_H
#define SLUICE_BUILD_H

/// The commit that the program was built from, with "-changed" behind it where files differed from it; empty where the
/// sources were in no repository.
const char *sluice_commit(void);

#endif
