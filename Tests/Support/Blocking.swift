import Foundation

/// Runs what blocks, such as waiting for a process, on a thread of its own.
///
/// The tests share as many threads as the machine has processors; a test that waits on one of them keeps the others from
/// going on.
///
/// - Parameter body: what blocks.
/// - Returns: what `body` returns.
/// - Throws: what `body` throws.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
