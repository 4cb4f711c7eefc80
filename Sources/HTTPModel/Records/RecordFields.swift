extension Sizes {
    /// Names in exports, in the order of a session.
    package static let fields: [(name: String, path: any WritableKeyPath<Sizes, Int64> & Sendable)] = [
        ("requestHead", \.requestHead), ("requestBody", \.requestBody), ("requestWire", \.requestWire),
        ("responseHead", \.responseHead), ("responseBody", \.responseBody), ("responseWire", \.responseWire),
    ]
}

extension Timings {
    package static let fields: [(name: String, path: any WritableKeyPath<Timings, Int64?> & Sendable)] = [
        ("blocked", \.blocked), ("dns", \.dns), ("connect", \.connect), ("tls", \.tls), ("send", \.send),
        ("wait", \.wait), ("receive", \.receive), ("total", \.total),
    ]
}
