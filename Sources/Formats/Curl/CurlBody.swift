import Content
import HTTPModel
import Masking
import NIOCore

/// The body of a request for curl: in a word of the command, on standard input, or in a file.
struct CurlBody {
    /// A larger body is uploaded as it is read, because curl keeps the file of `--data-binary` in memory.
    static let longestInMemory = 64 << 20
    /// A body that needs more bytes than this in a command is written to a file, if files can be written.
    static let longestWritten = 64 * 1024
    /// curl sends `Expect: 100-continue` above 1 MiB, older versions above 1 KiB.
    private static let longestWithoutExpect = 1024

    private let size: Int
    /// Whether secrets in the body are replaced; then only curl knows the length.
    let isMasked: Bool
    /// The command that writes the body to curl's input, if no argument can contain the body.
    private(set) var printing: [[UInt8]] = []
    private(set) var words: [[UInt8]] = []
    private(set) var remarks: [String] = []

    /// Throws `CurlError` for a long body if no files can be written, or the source's or files' error.
    init(_ body: RecordedBody, size: Int, of record: ExchangeRecord, method: String, _ files: (any BodyFiles)?) throws {
        self.size = size
        isMasked = body.isMasked(record)
        if size <= CurlCommand.longestArgument, files == nil || size <= CurlBody.longestWritten {
            var recorded = ByteBuffer()
            try body.read(CurlCommand.longestArgument, into: &recorded)
            if write(Array(recorded.readableBytesView), hasFiles: files != nil) { return }
        }
        let path = try files.write("body.bin", of: record) { try body.forFile.forEachPiece($0) }
        guard let word = ShellWord.quoted(path.utf8) else {
            throw CurlError(description: "the path of its body file has a NUL that no command line can carry")
        }
        if isMasked { remarks.append("in \(path) secrets are masked; put them in where it says sluice-…") }
        if size > CurlBody.longestInMemory {
            words = [Array("--upload-file".utf8), word]
            if method == "POST" { words += ["-X", "POST"].map { Array($0.utf8) } }
        } else {
            words = [Array("--data-binary".utf8), Array("@".utf8) + word]
        }
    }

    var hasLines: Bool { words.contains { $0.contains(0x0A) } }

    func isAsked(isChunked: Bool) -> Bool { size > CurlBody.longestWithoutExpect || isChunked || isMasked }

    private mutating func write(_ bytes: [UInt8], hasFiles: Bool) -> Bool {
        if ShellWord.isPlainText(bytes), let word = ShellWord.quoted(bytes) {
            words = [Array("--data-raw".utf8), word]
            return true
        }
        let command = ShellWord.printing(MarkedText.plain(bytes))
        guard !hasFiles || command.joined().count <= CurlBody.longestWritten else { return false }
        printing = command
        words = [Array("--data-binary".utf8), Array("'@-'".utf8)]
        return true
    }
}

extension BodyFiles? {
    /// Writes a file for a request's command; throws `CurlError` if no files can be written.
    func write(
        _ name: String,
        of record: ExchangeRecord,
        contents: ((ByteBuffer) throws -> Void) throws -> Void
    ) throws -> String {
        guard let self else {
            let reason = "it has a part that is too long for a command line, and there is no place for a file"
            throw CurlError(description: reason)
        }
        let path = try self.write("exchange-\(record.id)-\(name)", contents: contents)
        // curl takes a lone "-" for standard input, and a shell takes a leading "-" for an option.
        return path.hasPrefix("-") ? "./\(path)" : path
    }
}
