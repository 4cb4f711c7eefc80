import Foundation

package enum OwnThread {
    /// Runs work that blocks on a thread of its own.
    package static func run<Value: Sendable, Failure>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: Result(catching: body)) }
            thread.stackSize = 8 << 20
            thread.start()
        }
        return try result.get()
    }
}
