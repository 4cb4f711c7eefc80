import Foundation

/// Conversion between character encodings by the system's `iconv`.
enum TextConversion {
    /// Converts bytes; `nil` if the system does not know both encodings. `skip` gets the offset of bytes that cannot be
    /// converted and returns how many of them U+FFFD replaces, or `nil` to end the conversion.
    static func convert(
        _ input: [UInt8],
        from source: String,
        to target: String,
        _ skip: (_ offset: Int, _ isCutOff: Bool) -> Int?
    ) -> [UInt8]? {
        guard Charset.isPlausible(source), Charset.isPlausible(target), let converter = iconv_open(target, source),
            converter != iconv_t(bitPattern: -1)
        else { return nil }
        defer { iconv_close(converter) }
        var input = input
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        input.withUnsafeMutableBytes { source in
            var next = source.assumingMemoryBound(to: CChar.self).baseAddress
            var left = source.count
            var isFlushing = left == 0
            while true {
                let (code, written) = piece.withUnsafeMutableBytes { target in
                    var place = target.assumingMemoryBound(to: CChar.self).baseAddress
                    var room = target.count
                    // Without input, `iconv` writes the sequence that ends a text (ISO-2022-JP has one).
                    let result =
                        isFlushing
                        ? iconv(converter, nil, nil, &place, &room) : iconv(converter, &next, &left, &place, &room)
                    return (Int(bitPattern: UInt(bitPattern: result)) == -1 ? errno : 0, target.count - room)
                }
                output += piece[..<written]
                if code == E2BIG, written > 0 { continue }
                if isFlushing { return }
                guard code != 0 else {
                    isFlushing = true
                    continue
                }
                guard let skipped = skip(source.count - left, code == EINVAL) else { return }
                output += [0xEF, 0xBF, 0xBD]
                next = next?.advanced(by: skipped)
                left -= skipped
                isFlushing = left == 0
            }
        }
        return output
    }
}
