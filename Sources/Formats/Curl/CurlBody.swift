import Content
import HTTPModel
import Masking
import NIOCore

/// The body of a request as curl gets it: in a word of the command, on its input, or from a file.
struct CurlBody {
    /// Bodies above this are uploaded as they are read, for curl keeps what `--data-binary` names in memory.
    static let longestInMemory = 64 << 20
    /// A body that needs more bytes than this in a command is written to a file, if there is a place for one.
    static let longestWritten = 64 * 1024
    /// curl asks `Expect: 100-continue` above 1 MiB, older versions above 1 KiB.
    private static let longestWithoutExpect = 1024

    private let size: Int
    /// Whether secrets in it are replaced; then curl alone knows its length.
    let isMasked: Bool
    /// The command that writes it to curl's input, if no argument can carry it.
    private(set) var printing: [[UInt8]] = []
    private(set) var words: [[UInt8]] = []
    private(set) var remarks: [String] = []

    /// Throws `CurlError` for a long body without a place for files, or the source's or files' error.
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
    /// Writes a file for a request's command; throws `CurlError` if there is no place for files.
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
        // To curl a lone "-" is standard input, and to a shell a leading one an option.
        return path.hasPrefix("-") ? "./\(path)" : path
    }
}
