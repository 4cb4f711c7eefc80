import Dispatch
import Foundation

/// A counting semaphore whose time-outs use the monotonic clock; on Linux, `DispatchSemaphore` would wait an hour
/// longer if the wall clock is set back by an hour. SAFETY: the mutex guards `count`; mutex and condition are allocated
/// and never move.
final class WakeUp: @unchecked Sendable {  // SAFETY: as above
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var count = 0

    init() {
        pthread_mutex_init(mutex, nil)
        #if os(Linux)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #else
        pthread_cond_init(condition, nil)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func signal() {
        pthread_mutex_lock(mutex)
        count += 1
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Whether there was a signal before the deadline, which is a time of `CLOCK_MONOTONIC`.
    @discardableResult
    func wait(until deadline: DispatchTime = .distantFuture) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while count == 0 {
            guard deadline != .distantFuture else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            let now = DispatchTime.now().uptimeNanoseconds
            guard deadline.uptimeNanoseconds > now else { return false }
            waitOnce(now: now, until: deadline.uptimeNanoseconds)
        }
        count -= 1
        return true
    }

    private func waitOnce(now: UInt64, until deadline: UInt64) {
        #if os(Linux)
        var time = timespec(nanoseconds: deadline)
        pthread_cond_timedwait(condition, mutex, &time)
        #else
        var time = timespec(nanoseconds: deadline - now)
        pthread_cond_timedwait_relative_np(condition, mutex, &time)
        #endif
    }
}

extension timespec {
    fileprivate init(nanoseconds: UInt64) {
        self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
