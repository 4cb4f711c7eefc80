// Tells ThreadSanitizer of Swift's `Mutex`, for `Tests/Soak/sanitize thread`, which preloads it.
//
// A lock that nobody waits for is taken by an instruction that the compiler inlines, and the sanitiser sees. One that is
// waited for is handed on within Swift's library, which is not built with the sanitiser: what one thread did under the
// lock and the next one sees would be called a race.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void (*Lock)(uint32_t, SELF void *);
typedef SWIFT _Bool (*TryLock)(SELF void *);
typedef SWIFT void (*Unlock)(SELF void *);

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

SWIFT void lock(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT _Bool tryLock(SELF void *handle) __asm__(TRY_LOCK);
SWIFT void unlock(SELF void *handle) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF void *handle) {
    static Lock next;
    if (!next) next = (Lock)dlsym(RTLD_NEXT, LOCK);
    next(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT _Bool tryLock(SELF void *handle) {
    static TryLock next;
    if (!next) next = (TryLock)dlsym(RTLD_NEXT, TRY_LOCK);
    _Bool isTaken = next(handle);
    if (isTaken && __tsan_acquire) __tsan_acquire(handle);
    return isTaken;
}

SWIFT void unlock(SELF void *handle) {
    static Unlock next;
    if (!next) next = (Unlock)dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(handle);
    next(handle);
}
