import Dispatch
import Files
import Foundation
import Synchronization
import Text
import Yams

/// Reads YAML, within limits that protect against hostile files.
package enum ProfileText {
    /// In bytes, more than people write.
    package static let limit = 1 << 20
    /// How many characters may begin or divide values: seven for each of 11,000 rules, which take a second to read.
    package static let mostMarks = 80_000

    /// Reads a file, with `takesPipes` also a pipe or standard input (`-`): at most one byte more than the limit.
    package static func read(_ path: String, takesPipes: Bool = false) throws(ProfileError) -> String {
        let bytes: [UInt8]
        do throws(FileError) {
            let file = path == "-" && takesPipes ? "/dev/stdin" : path
            bytes = try InputFile.contents(of: file, atMost: limit + 1, takesPipes: takesPipes)
        } catch {
            var unreadable = ProfileError(error.reason, file: path)
            unreadable.issues[0].isUnreadable = true
            throw unreadable
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw bytes.count > limit ? tooLarge(path) : notUTF8(bytes, path)
        }
        return text
    }

    /// The error with the place of the first invalid byte.
    private static func notUTF8(_ bytes: [UInt8], _ file: String) -> ProfileError {
        let before = String(decoding: bytes, as: UTF8.self).unicodeScalars.prefix { $0 != "\u{FFFD}" }
        let (line, column) = end(of: before)
        return ProfileError("not UTF-8 text; save the file as UTF-8", file: file, line: line, column: column)
    }

    private static func end(of text: Substring.UnicodeScalarView) -> (line: Int, column: Int) {
        (text.count { $0 == "\n" } + 1, text.reversed().prefix { $0 != "\n" }.count + 1)
    }

    /// The directory of a file; `.` for a name without a directory.
    package static func directory(of file: String) -> String {
        guard let slash = file.lastIndex(of: "/") else { return "." }
        return slash == file.startIndex ? "/" : String(file[..<slash])
    }

    /// A path; a relative one is resolved from a directory, and `~/` from the home directory.
    package static func absolute(_ path: String, in directory: String) -> String {
        let path = HomeDirectory.expanding(path)
        if path.hasPrefix("/") { return path }
        return directory == "." ? path : directory.hasSuffix("/") ? directory + path : "\(directory)/\(path)"
    }

    package static func canonical(_ path: String) -> String {
        URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path
    }

    private static func tooLarge(_ file: String) -> ProfileError {
        ProfileError("is larger than \(limit >> 20) MiB, the limit for profiles", file: file)
    }

    static func tree(_ text: String, file: String) throws(ProfileError) -> Node? {
        guard text.utf8.count <= limit else { throw tooLarge(file) }
        // A byte order mark is not part of the text (YAML 1.2 §5.2), but the parser would read it as text.
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        if let trap = trap(in: text) {
            throw ProfileError(trap.message, file: file, line: trap.line, column: trap.column)
        }
        do {
            return try parse(text)
        } catch let error as YamlError {
            throw describe(error, file)
        } catch {
            throw ProfileError("is not YAML: \(error)", file: file)
        }
    }

    /// Parses on a new thread with a large stack, because the parser recurses a thousand levels deep.
    private static func parse(_ text: String) throws -> Node? {
        let outcome = Mutex<Result<Node?, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            outcome.withLock { $0 = Result { try Parser(yaml: text, encoding: .utf8).singleRoot().map { Node($0) } } }
            done.signal()
        }
        thread.stackSize = 16 << 20
        thread.start()
        done.wait()
        return try outcome.withLock { $0.take() }?.get()
    }

    private static func describe(_ error: YamlError, _ file: String) -> ProfileError {
        switch error {
        case .scanner(let context, let problem, let mark, let text),
            .parser(let context, let problem, let mark, let text),
            .composer(let context, let problem, let mark, let text):
            if isTab(at: mark, in: text) {
                let message = "not valid YAML: a tab; indent with spaces"
                return ProfileError(message, file: file, line: mark.line, column: mark.column)
            }
            let isAlias = problem.contains("alias") || context?.text.contains("alias") == true
            let isIndentation = ["mapping values are not", "expected key", "expected <block end>"].contains {
                problem.contains($0)
            }
            let isBraced = problem.contains("expected ',' or '") || context?.text.contains("flow mapping") == true
            let hint =
                isAlias
                ? "; a text that begins with *, or has [*] inside { }, needs quotes"
                : isBraced
                    ? "; inside { } a text with [ ] or { } needs quotes"
                    : isIndentation ? "; is the indentation right?" : ""
            let occasion = context.map { ", \($0.text)" } ?? ""
            let place = isAlias ? context?.mark ?? mark : mark
            let message = "not valid YAML: \(problem)\(occasion)\(hint)"
            return ProfileError(message, file: file, line: place.line, column: place.column)
        case .duplicatedKeysInMapping(let keys, let context):
            let message = "the key '\(keys.first ?? "")' appears twice in the same mapping"
            return ProfileError(message, file: file, line: context.mark.line, column: context.mark.column)
        case .reader(let problem, let offset, let value, let text):
            // The offset counts characters, and is unknown in bytes that are not a character.
            let (line, column) = end(of: text.prefix(offset ?? 0).unicodeScalars)
            let hex = max(value, 0).padded(to: 4, radix: 16, uppercase: true)
            let message = "not valid YAML: \(problem) (U+\(hex)); in double quotes it is written \\u\(hex)"
            return ProfileError(message, file: file, line: line, column: column)
        default: return ProfileError("not valid YAML: \(error)", file: file)
        }
    }

    private static func isTab(at mark: Yams.Mark, in text: String) -> Bool {
        let lines = text.split(separator: "\n", maxSplits: max(0, mark.line), omittingEmptySubsequences: false)
        guard mark.line > 0, lines.indices.contains(mark.line - 1) else { return false }
        return lines[mark.line - 1].dropFirst(max(0, mark.column - 1)).first == "\t"
    }

    /// Finds constructs that take too much time to read, and that no profile needs. Each value takes time, even a small
    /// one. Nested lists of aliases grow without bound; lists that are nested in keys are compared again and again. The
    /// check includes quotes and comments, so that they cannot hide such a construct.
    private static func trap(in text: String) -> (line: Int, column: Int, message: String)? {
        var line = 1
        var column = 1
        var (beforeThat, before): (UInt8, UInt8) = (0x20, 0x20)
        var marks = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "{"): marks += 1
            case 0x20, 0x09, 0x0A, 0x0D: if before == UInt8(ascii: "-") { marks += 1 }
            default: break
            }
            if marks > mostMarks {
                return (line, column, "too many rules: about 10,000 fit in a file; put the others into a second one")
            }
            if before == UInt8(ascii: "&"), isNameByte(byte), endsToken(beforeThat) {
                let way = "if it is text, write \\x26 for & in double quotes"
                return (line, column - 1, "anchors (&name) are not allowed in profiles; \(way)")
            }
            if before == UInt8(ascii: "?"), isBlank(byte) || "[{!#".utf8.contains(byte), endsToken(beforeThat),
                !"\"'".utf8.contains(beforeThat)
            {
                let way = "if it is text, write \\x3F in double quotes"
                return (line, column - 1, "keys that begin with '?' are not allowed in profiles; \(way)")
            }
            (beforeThat, before) = (before, byte)
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return nil
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == 0x2D || byte == 0x5F || byte >= 0x80
    }

    /// White space, and the last bytes of U+0085, U+2028, U+2029 and U+FEFF.
    private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 || [0x85, 0xA8, 0xA9, 0xBF].contains(byte) }

    /// Whether a new token can begin after this byte.
    private static func endsToken(_ byte: UInt8) -> Bool { isBlank(byte) || "[]{},:?\"'".utf8.contains(byte) }
}
