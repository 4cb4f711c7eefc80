import Foundation

package enum OwnThread {
    /// Runs work that blocks on a thread of its own.
    package static func run<Value: Sendable, Failure>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }
}
