import Foundation

/// A case of the Markdown files under `Cases`; `Cases/README.md` says how they are written.
struct ParserCase: Sendable, CustomStringConvertible {
    let file: String
    let name: String
    let isRequest: Bool
    /// The methods of the requests that the responses answer, in order.
    let methods: [String]
    let endsWithEOF: Bool
    let input: [UInt8]
    let expected: [String]

    var description: String { "\(file): \(name)" }

    /// Every case of every file, in order.
    static func all() throws -> [ParserCase] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" && $0.lastPathComponent != "README.md" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .flatMap { try cases(in: String(contentsOf: $0, encoding: .utf8), file: $0.lastPathComponent) }
    }

    static func cases(in text: String, file: String) throws -> [ParserCase] {
        var cases: [ParserCase] = []
        var name = ""
        var input: (words: [String], lines: [String])?
        var fence: (words: [String], lines: [String])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if let open = fence {
                if line == "```" {
                    if open.words.first == "events", let (words, lines) = input {
                        cases.append(
                            ParserCase(
                                file: file,
                                name: name,
                                isRequest: words.first == "request",
                                methods: words.first { $0.hasPrefix("to=") }
                                    .map { $0.dropFirst(3).split(separator: ",").map(String.init) } ?? ["GET"],
                                endsWithEOF: words.contains("eof"),
                                input: lines.flatMap(bytes),
                                expected: open.lines
                            )
                        )
                        input = nil
                    } else {
                        guard input == nil else { throw CaseError(text: "\(file): \(name) has no events") }
                        input = open
                    }
                    fence = nil
                } else {
                    fence = (open.words, open.lines + [line])
                }
            } else if line.hasPrefix("```") {
                fence = (line.dropFirst(3).split(separator: " ").map(String.init), [])
            } else if line.hasPrefix("## ") {
                guard input == nil else { throw CaseError(text: "\(file): \(name) has no events") }
                name = String(line.dropFirst(3))
            }
        }
        guard input == nil, fence == nil else { throw CaseError(text: "\(file): \(name) is not finished") }
        return cases
    }

    /// The bytes that a line of an input block stands for.
    static func bytes(_ line: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(line.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case nil: return bytes
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "s"): bytes.append(0x20)
            case UInt8(ascii: "x"):
                bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            case UInt8(ascii: "*"):
                // `\*300a` repeats the next byte.
                let digits = rest.prefix { (0x30...0x39).contains($0) }
                rest = rest.dropFirst(digits.count)
                let count = Int(String(decoding: digits, as: UTF8.self)) ?? 0
                bytes += Array(repeating: rest.popFirst() ?? 0, count: count)
            case .some(let other): bytes.append(other)
            }
        }
        return bytes + [0x0D, 0x0A]
    }
}

struct CaseError: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}
