/// Lays JSON out for reading, without reading it into values.
///
/// Numbers and strings keep their spelling, members their order, duplicates stay: what is shown is what was sent.
package enum JSONText {
    /// Lays out JSON in UTF-8 with one member or element a line.
    ///
    /// - Parameters:
    ///   - bytes: the JSON text; a byte order mark is skipped.
    ///   - indent: spaces a level.
    ///   - outputLimit: how many bytes the laid-out text may have.
    /// - Throws: `JSONSyntaxError` where the bytes are not JSON (RFC 8259) or a limit is reached.
    package static func pretty(
        _ bytes: some Collection<UInt8>,
        indent: Int = 2,
        outputLimit: Int = 64 << 20
    ) throws(JSONSyntaxError) -> String {
        var reader = JSONTokenReader(Array(bytes))
        var output: [UInt8] = []
        output.reserveCapacity(min(bytes.count * 2, outputLimit))
        var last: JSONToken.Kind?
        while let token = try reader.next() {
            let isEnd = token.kind == .objectEnd || token.kind == .arrayEnd
            let isEmpty = isEnd && (last == .objectBegin || last == .arrayBegin)
            if last == .name {
                output += ": ".utf8
            } else if let last, !isEmpty {
                if !isEnd, last != .objectBegin, last != .arrayBegin { output.append(UInt8(ascii: ",")) }
                let isBegin = token.kind == .objectBegin || token.kind == .arrayBegin
                output.append(UInt8(ascii: "\n"))
                output += repeatElement(UInt8(ascii: " "), count: indent * (reader.depth - (isBegin ? 1 : 0)))
            }
            output += reader.bytes[token.range]
            guard output.count <= outputLimit else {
                throw reader.error("laid out, it is longer than \(outputLimit) bytes")
            }
            last = token.kind
        }
        return String(decoding: output, as: UTF8.self)
    }
}
