import HTTPModel
import Masking
import NIOCore

/// The body of a request as curl gets it: in a word of the command, on its input, or from a file.
struct CurlBody {
    /// Bodies above this are uploaded as they are read, for curl keeps what `--data-binary` names in memory.
    static let longestInMemory = 64 << 20
    /// A body that takes more bytes than this in a command goes to a file, where there is a place for one.
    static let longestWritten = 64 * 1024
    /// curl asks `Expect: 100-continue` above 1 MiB, older versions above 1 KiB.
    private static let longestWithoutExpect = 1024

    private let record: ExchangeRecord
    private let size: Int
    let isMasked: Bool
    /// The coding in which it was recorded and in which it is not written, as it is masked.
    private let coding: String?
    /// The command that writes it to curl's input, where no argument can carry it.
    private(set) var printing: [[UInt8]] = []
    /// The words of the command that name it.
    private(set) var words: [[UInt8]] = []
    /// What is not as it was recorded, in sentences.
    private(set) var remarks: [String] = []
    /// What a script has before the command, so that it ends where a file has no secrets yet.
    private(set) var guards: [UInt8] = []
    /// What a shell reads between double quotes as its length in bytes, where it is masked.
    private var length = ""
    /// Whether it is read from a file that a variable has to name.
    private(set) var isHeld = false

    /// Throws `CurlError` for a body that is too long for a command where there is no place for files, or the source's or
    /// files' error.
    init(
        _ body: RecordedBody,
        size: Int,
        of record: ExchangeRecord,
        _ head: RequestHead,
        _ files: (any BodyFiles)?,
        _ variables: inout ShellVariables?
    ) throws {
        self.record = record
        self.size = size
        isMasked = body.masked != nil
        coding = isMasked ? head.fields.value(of: .contentEncoding) : nil
        if size <= CurlCommand.longestArgument, files == nil || size <= CurlBody.longestWritten {
            var recorded = ByteBuffer()
            try body.read(CurlCommand.longestArgument, into: &recorded)
            if try write(Array(recorded.readableBytesView), of: body, files, &variables) { return }
        }
        let path = try files.write("body.bin", of: record, body.masked) { try body.forEachPiece($0) }
        let hasSecrets = body.masked?.maskedParts(of: record).contains("request body") ?? false
        try name(path, method: head.method, hasSecrets: hasSecrets)
    }

    /// The variable that may name a file with the body as it was recorded, where it is written without its coding.
    var recordedVariable: String? { coding != nil && !isHeld ? HeldBody.variable(of: record.id) : nil }

    /// Whether it stands in the command in several lines.
    var hasLines: Bool { words.contains { $0.contains(0x0A) } }

    /// Whether curl would ask `Expect: 100-continue` for it.
    func isAsked(isChunked: Bool) -> Bool {
        size > CurlBody.longestWithoutExpect || isChunked || isHeld || recordedVariable != nil
    }

    /// Writes it in the command; returns whether it can.
    private mutating func write(
        _ bytes: [UInt8],
        of body: RecordedBody,
        _ files: (any BodyFiles)?,
        _ variables: inout ShellVariables?
    ) throws -> Bool {
        if let held = try HeldBody(bytes, body, isCoded: coding != nil) {
            hold(held)
            return true
        }
        // A file needs no variables.
        var needed = variables
        let pieces = needed.pieces(of: bytes)
        if recordedVariable == nil, ShellWord.isPlainText(bytes), let word = ShellWord.quoted(pieces) {
            words = [Array("--data-raw".utf8), word]
        } else {
            let command = ShellWord.printing(pieces)
            guard files == nil || command.joined().count <= CurlBody.longestWritten else { return false }
            printing = command
            let input = recordedVariable.map { "@\"${\($0):--}\"" } ?? "'@-'"
            words = [Array("--data-binary".utf8), Array(input.utf8)]
        }
        variables = needed
        remarkOnCoding()
        if let remark = EarlierMask.remark(onBody: bytes, body.source) { remarks.append(remark) }
        length = variables?.length(of: bytes) ?? ""
        return true
    }

    private mutating func name(_ path: String, method: String, hasSecrets: Bool) throws {
        guard var word = ShellWord.quoted(path.utf8) else {
            throw CurlError(description: "the path of its body file would need a NUL that no command line can carry")
        }
        remarkOnCoding()
        let variable = recordedVariable
        if let variable {
            word = Array("\"${\(variable):-$(printf %s ".utf8) + word + Array(")}\"".utf8)
        }
        if hasSecrets {
            remarks.append("in \(path) secrets are masked; put them in where it says sluice-…")
            guards = CurlBody.guards(path, unless: variable)
        }
        length = "$(($(wc -c <\(String(decoding: word, as: UTF8.self)))))"
        if size > CurlBody.longestInMemory {
            words = [Array("--upload-file".utf8), word]
            if method == "POST" { words += ["-X", "POST"].map { Array($0.utf8) } }
        } else {
            words = [Array("--data-binary".utf8), Array("@".utf8) + word]
        }
    }

    private mutating func hold(_ held: HeldBody) {
        isHeld = true
        remarks.append(held.remark)
        length = "$(($(wc -c <\"$\(held.variable)\")))"
        words = [Array("--data-binary".utf8), Array("@\"\(held.path)\"".utf8)]
    }

    private mutating func remarkOnCoding() {
        guard let coding, let recordedVariable else { return }
        let show = "sluice show … \(record.id) --body request --raw"
        remarks.append(
            "the body is sent without its Content-Encoding, \(coding), as it is masked, unless \(recordedVariable) names a file that has"
                + " it as it was recorded (\(show))"
        )
    }

    /// The words for a line of the head that depend on how a masked body is sent; `nil` for one that is sent as it is.
    func words(for field: Field, _ line: [UInt8]) -> [[UInt8]]? {
        guard isMasked else { return nil }
        switch FieldName(field.name) {
        case .contentEncoding:
            guard let recordedVariable, let word = ShellWord.quoted(Array("-H".utf8) + line) else { return nil }
            return [Array("${\(recordedVariable):+".utf8) + word + Array("}".utf8)]
        case .contentLength:
            let spaces = line.reversed().prefix { $0 == 0x20 || $0 == 0x09 }
            let name = String(decoding: line.dropLast(spaces.count + field.valueBytes.count), as: UTF8.self)
            guard !printing.isEmpty, let variable = recordedVariable else {
                let text = "\"\(name)\(length)\(String(decoding: spaces, as: UTF8.self))\""
                return [Array("-H".utf8), Array(text.utf8)]
            }
            // Without that file curl alone knows it.
            return [Array("${\(variable):+\"-H\(name)$(($(wc -c <\"$\(variable)\")))\"}".utf8)]
        default: return nil
        }
    }

    /// Ends a script while a file has masked secrets, which would be sent as they stand there; of none where a variable is
    /// set.
    static func guards(_ path: String, unless variable: String? = nil) -> [UInt8] {
        guard let word = ShellWord.quoted(path.utf8) else { return [] }
        let condition = variable.map { "[ -z \"${\($0)-}\" ] && " } ?? ""
        // In text of UTF-16 each has a NUL between its letters.
        return Array("if \(condition)LC_ALL=C tr -d '\\000' <".utf8) + word
            + Array(
                " | LC_ALL=C grep -q 'sluice-[a-z-]*-[0-9]'; then : \"${SLUICE_BODY_FILE:?put the secrets into the body file named above}\"; fi\n"
                    .utf8
            )
    }
}

extension BodyFiles? {
    /// Writes a file for a request's command; throws `CurlError` where there is no place for files.
    func write(
        _ name: String,
        of record: ExchangeRecord,
        _ masked: MaskedSource?,
        contents: ((ByteBuffer) throws -> Void) throws -> Void
    ) throws -> String {
        guard let self else {
            let reason = "it has a part that is too long for a command line, and there is no place for a file"
            throw CurlError(description: reason)
        }
        let path = try self.write("exchange-\(record.id)-\(name)") { sink in
            try withoutActuallyEscaping(sink) { sink in
                guard let masked else { return try contents(sink) }
                var pieces = UnmarkedPieces(masked.mask.book)
                try contents { try sink(ByteBuffer(bytes: pieces.add($0.readableBytesView))) }
                try sink(ByteBuffer(bytes: pieces.end()))
            }
        }
        // To curl a lone "-" is standard input, and to a shell a leading one an option.
        return path.hasPrefix("-") ? "./\(path)" : path
    }
}
