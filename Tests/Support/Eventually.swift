package struct TimeoutError: Error, CustomStringConvertible {
    package let description: String
}

/// Waits until something holds; fails where it does not come about in time.
///
/// How long that is decides only when a test gives up: a machine may be busy with something else for many seconds.
package func eventually(
    _ what: @autoclosure () -> String,
    within seconds: Double = 120,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            throw TimeoutError(description: "not within \(seconds) s: \(what())")
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}
