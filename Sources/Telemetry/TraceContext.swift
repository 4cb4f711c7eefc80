package import HTTPModel

/// A request's place in a distributed trace: `traceparent` and `tracestate` (W3C Trace Context).
package struct TraceContext: Sendable, Hashable {
    /// 16 bytes.
    package let traceID: [UInt8]
    /// The span that sent the request; 8 bytes.
    package let parentID: [UInt8]
    package let flags: UInt8
    /// Empty if it is missing, too long or not printable ASCII.
    package private(set) var state = ""

    /// In bytes; the specification demands that so much is passed on.
    package static let longestState = 512

    package static let sampled: UInt8 = 1

    package var isSampled: Bool { flags & TraceContext.sampled != 0 }

    /// `nil` without exactly one valid `traceparent`.
    package init?(_ fields: FieldSection) {
        guard let index = fields.firstIndex(of: .traceparent),
            fields.firstIndex(of: .traceparent, from: index + 1) == nil,
            let context = fields.withValue(at: index, { TraceContext(traceparent: $0) })
        else { return nil }
        self = context
        guard let state = fields.combinedValue(of: .tracestate), state.utf8.count <= TraceContext.longestState,
            state.utf8.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0x09 })
        else { return }
        self.state = state
    }

    /// Reads `VERSION-TRACE-PARENT-FLAGS` in lower-case hexadecimal digits. A later version than 00 may have more after
    /// another hyphen, and of its flags only `sampled` is known.
    package init?(traceparent bytes: some Collection<UInt8>) {
        let bytes = Array(bytes.prefix(56))
        func part(_ start: Int, _ count: Int) -> [UInt8]? {
            let digits = bytes[start..<start + 2 * count]
            guard !digits.contains(where: { (0x41...0x46).contains($0) }) else { return nil }
            let values = digits.compactMap(\.hexadecimalValue)
            guard values.count == 2 * count else { return nil }
            return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
        }
        let hyphen = UInt8(ascii: "-")
        guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == hyphen }),
            let version = part(0, 1)?.first, version != 0xFF,
            let traceID = part(3, 16), let parentID = part(36, 8), let flags = part(53, 1)?.first,
            traceID.contains(where: { $0 != 0 }), parentID.contains(where: { $0 != 0 }),
            bytes.count == 55 || version > 0 && bytes[55] == hyphen
        else { return nil }
        (self.traceID, self.parentID) = (traceID, parentID)
        self.flags = version == 0 ? flags : flags & TraceContext.sampled
    }
}

extension FieldName {
    static let traceparent: FieldName = "traceparent"
    static let tracestate: FieldName = "tracestate"
}
