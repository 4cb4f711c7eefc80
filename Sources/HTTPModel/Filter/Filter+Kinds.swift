extension Filter {
    /// Failed, or answered with a status from 400 or a gRPC status other than OK.
    package static let errors = any([("is", .property(.fact(.error)))])

    package static let changedByRule = any([("is", .property(.fact(.changed))), ("is", .property(.fact(.blocked)))])

    package static let held = any([("is", .property(.fact(.held)))])

    /// Possibly from clients that do not trust the certificate: failed handshakes, and tunnels.
    package static let untrusting = any([("is", .property(.failure(.clientTLS))), ("is", .property(.fact(.tunnel)))])

    /// In microseconds.
    package static func slow(from time: Int64) -> Filter { any([("time", .number(.time, time...Int64.max))]) }

    /// In bytes of the response.
    package static func large(from size: Int64) -> Filter { any([("size", .number(.size, size...Int64.max))]) }

    /// In microseconds since 1970.
    package static func begun(in span: Range<Int64>) -> Filter {
        let tests = [
            ("since", FilterTest.number(.startedAt, span.lowerBound...Int64.max)),
            ("before", FilterTest.number(.startedAt, Int64.min...max(Int64.min + 1, span.upperBound) - 1)),
        ]
        return Filter(root: .and(tests.map { .term(FilterTerm(key: $0, tests: [$1])) }))
    }

    private static func any(_ tests: [(key: String, test: FilterTest)]) -> Filter {
        Filter(root: .any(tests.map { .term(FilterTerm(key: $0.key, tests: [$0.test])) }))
    }
}
