/// Text for a shell command: each secret is a marked placeholder, which becomes a variable. No peer knows the mark.
package enum MarkedText {
    package enum Piece: Sendable, Equatable {
        case text([UInt8])
        /// What a shell reads between double quotes: `${SLUICE_TOKEN_1:?token of api.example.com}`.
        case variable(String)

        package var isVariable: Bool { if case .variable = self { true } else { false } }
    }

    package static func pieces(of bytes: [UInt8]) -> [Piece] {
        var (pieces, place): ([Piece], Int) = ([], 0)
        forEachMark(in: bytes) { mark in
            if mark.range.lowerBound > place { pieces.append(.text(Array(bytes[place..<mark.range.lowerBound]))) }
            pieces.append(.variable(expansion(of: mark.placeholder, mark.host)))
            place = mark.range.upperBound
        }
        if place < bytes.count || pieces.isEmpty { pieces.append(.text(Array(bytes[place...]))) }
        return pieces
    }

    /// The shell ends a script if the variable is not set.
    private static func expansion(of placeholder: Placeholder, _ host: String) -> String {
        let encoded = placeholder.encoding > 0 ? "encoded " : ""
        return "${\(placeholder.variable):?\(encoded)\(placeholder.kind.rawValue)\(host.isEmpty ? "" : " of \(host)")}"
    }

    package static func plain(_ bytes: [UInt8]) -> [UInt8] {
        var (output, place): ([UInt8], Int) = ([], 0)
        forEachMark(in: bytes) { mark in
            output += bytes[place..<mark.range.lowerBound] + Array(mark.placeholder.text.utf8)
            place = mark.range.upperBound
        }
        return place == 0 ? bytes : output + bytes[place...]
    }

    package static func plain(_ text: String) -> String { String(decoding: plain(Array(text.utf8)), as: UTF8.self) }

    private static func forEachMark(in bytes: [UInt8], _ body: (PlaceholderReading) -> Void) {
        bytes.withUnsafeBytes { bytes in
            for reading in PlaceholderReading.all(in: bytes) where reading.isMarked { body(reading) }
        }
    }
}
