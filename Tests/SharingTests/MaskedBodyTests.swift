import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Sharing

/// Masked commands and programs with bodies that are no plain text: run with their secrets they send what was recorded, and
/// without them nothing.
@Suite("Bodies of masked commands that are no plain text", .serialized)
struct MaskedBodyTests {
    struct Body: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var type = "application/json"
        var bytes: [UInt8]
        /// What has to be set.
        var variable = "SLUICE_PASSWORD_1"
        var secret = "hunter2word"
        /// Whether the variable names a file with the body.
        var isHeld = false
        var coding: ContentCoding?
    }

    private static let json = #"{"name":"Jörg","password":"hunter2word"}"#

    static let inParts: [Body] = [
        Body(
            testDescription: "ISO 8859-1",
            type: "application/json; charset=iso-8859-1",
            bytes: json.unicodeScalars.map { UInt8($0.value) }
        ),
        Body(testDescription: "a byte order mark", bytes: [0xEF, 0xBB, 0xBF] + json.utf8),
        Body(
            testDescription: "a form with a file",
            type: "multipart/form-data; boundary=b",
            bytes: Array("--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n".utf8) + [
                0, 1, 0xFF, 0x27, 0x25,
            ]
                + Array(
                    "\r\n--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter2word\r\n--b--\r\n".utf8
                )
        ),
    ]

    static func whole() throws -> [Body] {
        let packed = try ContentEncoder.encode(ByteBuffer(string: json), coding: .gzip)
        return [
            Body(
                testDescription: "gzip without a coding",
                type: "application/octet-stream",
                bytes: Array(packed.readableBytesView),
                variable: "SLUICE_BODY_1",
                isHeld: true
            ),
            Body(
                testDescription: "gzip with a coding beside it",
                type: "application/octet-stream",
                bytes: Array(try ContentEncoder.encode(packed, coding: .gzip).readableBytesView),
                variable: "SLUICE_BODY_1",
                isHeld: true,
                coding: .gzip
            ),
            Body(
                testDescription: "UTF-16, low byte first",
                bytes: [0xFF, 0xFE] + json.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
                variable: "SLUICE_BODY_1",
                isHeld: true
            ),
            Body(
                testDescription: "UTF-16, high byte first",
                bytes: [0xFE, 0xFF] + json.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] },
                variable: "SLUICE_BODY_1",
                isHeld: true
            ),
        ]
    }

    /// How a form is run, and the name of its file.
    private static func program(_ form: CopyForm, _ settings: String) throws -> [String] {
        switch form {
        case .httpie:
            let programs = URL(filePath: try PeerEnvironment.program("http")).deletingLastPathComponent().path
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            try Data(#"{"disable_update_warnings": true}"#.utf8).write(to: URL(filePath: "\(settings)/config.json"))
            return ["env", "PATH=\(programs):\(path)", "HTTPIE_CONFIG_DIR=\(settings)", "dash", "-eu"]
        case .fetch: return ["node"]
        case .python: return [try PeerEnvironment.program("python")]
        default: return ["dash", "-eu"]
        }
    }

    private static func source(_ body: Body, _ host: String) throws -> (MemorySource, MaskedSource) {
        let source = MemorySource()
        let coding = body.coding == nil ? "" : "Content-Encoding: gzip\r\n"
        try source.add(
            "http://\(host)/login",
            request: """
                POST /login HTTP/1.1\r\nHost: \(host)\r\nUser-Agent: mine\r\nAccept: */*\r\n\
                Content-Type: \(body.type)\r\n\(coding)Content-Length: \(body.bytes.count)\r\n\r\n
                """,
            requestBody: body.bytes
        )
        let masked = MaskedSource(source, TextMask())
        for exchange in source.exchanges { try masked.collectAll(exchange) }
        masked.mask.endCollecting()
        masked.mask.book.isForPrograms = true
        return (source, masked)
    }

    private static func script(
        _ form: CopyForm,
        _ exchange: RecordedExchange,
        _ masked: MaskedSource
    ) throws -> (text: String, needed: [Placeholder]) {
        var needed: [Placeholder] = []
        let command = try form.text(masked.masked(exchange), source: masked, files: nil) { needed += $0 }
        return ((form.isCommand ? CopyForm.guards(needed, masked) : "") + (try #require(command)), needed)
    }

    /// Writes a script, which ends without what it needs, and returns the command that runs it.
    private static func refusing(
        _ text: String,
        _ form: CopyForm,
        in folder: TemporaryFolder,
        as name: String
    ) throws -> [String] {
        let script = "\(folder.path)/\(name)"
        try Data(text.utf8).write(to: URL(filePath: script))
        let program = try program(form, folder.path)
        let refused = try folder.run(program[0], program.dropFirst() + [script])
        #expect(refused.wait() != 0, "\(text)")
        return program + [script]
    }

    @Test(arguments: [CopyForm.curl, .httpie, .fetch, .python], try inParts + whole())
    func `what is sent`(_ form: CopyForm, _ body: Body) async throws {
        try await blocking {
            let server = try EchoServer()
            let folder = try TemporaryFolder()
            let (source, masked) = try MaskedBodyTests.source(body, "127.0.0.1:\(server.port)")
            let (text, needed) = try MaskedBodyTests.script(form, source.exchanges[0], masked)
            #expect(needed.map(\.variable) == (body.isHeld ? [] : [body.variable]), "\(text)")
            #expect(text.contains(body.variable) && !text.contains(body.secret), "\(text)")
            #expect(!text.contains(Data(body.secret.utf8).base64EncodedString().dropLast(4)), "\(text)")
            let command = try MaskedBodyTests.refusing(text, form, in: folder, as: "script")
            let file = "\(folder.path)/a body"
            try Data(body.bytes).write(to: URL(filePath: file))
            let value = "\(body.variable)=\(body.isHeld ? file : body.secret)"
            let child = try folder.run("env", [value] + command)
            let received = try Result { try server.receive() }.getReporting(text)
            #expect(child.wait() == 0, "\(text)")
            #expect(received.body == body.bytes, "\(text)")
            #expect(received.requestLine.text == "POST /login HTTP/1.1", "\(text)")
            let codings = received.fields.map { $0.text.lowercased() }.filter { $0.hasPrefix("content-encoding:") }
            #expect(codings == (body.coding == nil ? [] : ["content-encoding: gzip"]), "\(text)")
        }
    }

    @Test(arguments: [ProgramExport.Language.httpie, .fetch, .python], try whole())
    func `a program of all requests`(_ language: ProgramExport.Language, _ body: Body) async throws {
        try await blocking {
            let server = try EchoServer()
            let folder = try TemporaryFolder()
            let (source, masked) = try MaskedBodyTests.source(body, "127.0.0.1:\(server.port)")
            var output = ByteBuffer()
            var export = ProgramExport(language, source: masked, files: NamedBodies()) {
                output.writeImmutableBuffer($0)
            }
            var rehearsal = export.rehearsal
            try rehearsal.add(masked.masked(source.exchanges[0]))
            export.begin(after: rehearsal)
            try export.add(masked.masked(source.exchanges[0]))
            try export.finish()
            let text = String(buffer: output)
            let form: CopyForm = language == .httpie ? .httpie : language == .fetch ? .fetch : .python
            let command = try MaskedBodyTests.refusing(text, form, in: folder, as: form == .fetch ? "all.mjs" : "all")
            let file = "\(folder.path)/a body"
            try Data(body.bytes).write(to: URL(filePath: file))
            let child = try folder.run("env", ["\(body.variable)=\(file)"] + command)
            #expect(try Result { try server.receive() }.getReporting(text).body == body.bytes, "\(text)")
            #expect(child.wait() == 0, "\(text)")
        }
    }

    @Test("A script sends no file of a body before its secrets are in it, in whatever encoding")
    func files() async throws {
        try await blocking {
            let long = #"{"password":"hunter2word","fill":"\#(String(repeating: "x", count: 90_000))"}"#
            let wide: [UInt8] = [0xFF, 0xFE] + long.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] as [UInt8] }
            for (form, bytes) in [(CopyForm.httpie, Array(long.utf8)), (.curl, Array(long.utf8)), (.curl, wide)] {
                let folder = try TemporaryFolder()
                let (source, masked) = try MaskedBodyTests.source(Body(testDescription: "", bytes: bytes), "h")
                var output = ByteBuffer()
                let files = BodyDirectory(path: "\(folder.path)/bodies")
                let exchange = masked.masked(source.exchanges[0])
                func write(_ bytes: ByteBuffer) { output.writeImmutableBuffer(bytes) }
                if form == .curl {
                    var export = CurlExport(source: masked, form: .scriptFile, files: files, sink: write)
                    try export.add(exchange)
                    try export.finish()
                } else {
                    var export = ProgramExport(.httpie, source: masked, files: files, sink: write)
                    try export.add(exchange)
                    try export.finish()
                }
                let text = String(buffer: output)
                #expect(text.contains("secrets are masked; put them in"), "\(text.prefix(500))")
                try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/script"))
                for name in ["curl", "http"] {
                    try Data("#!/bin/sh\necho ran >'\(folder.path)/ran'\necho 200 POST x\n".utf8)
                        .write(to: URL(filePath: "\(folder.path)/\(name)"))
                    try FileManager.default.setAttributes(
                        [.posixPermissions: 0o700],
                        ofItemAtPath: "\(folder.path)/\(name)"
                    )
                }
                func run(_ shell: String) throws -> Bool {
                    let path = "PATH=\(folder.path):/usr/bin:/bin"
                    let child = try folder.run("env", [path, shell, "\(folder.path)/script"])
                    let isWell = child.wait() == 0
                    let hasRun = FileManager.default.fileExists(atPath: "\(folder.path)/ran")
                    try? FileManager.default.removeItem(atPath: "\(folder.path)/ran")
                    #expect(isWell == hasRun)
                    return hasRun
                }
                for shell in ["dash", "bash"] { #expect(try !run(shell), "\(text.prefix(500))") }
                try Data(bytes).write(to: URL(filePath: "\(folder.path)/bodies/exchange-1-body.bin"))
                for shell in ["dash", "bash"] { #expect(try run(shell), "\(text.prefix(500))") }
            }
        }
    }

    @Test("A request whose body an earlier export masked whole says so")
    func earlier() throws {
        let sentence = "sluice: this body holds secrets in compressed data, and is masked whole"
        let (source, _) = try MaskedBodyTests.source(Body(testDescription: "", bytes: Array(sentence.utf8)), "h")
        for form in [CopyForm.httpie, .fetch, .python] {
            let text = try form.text(source.exchanges[0], source: source, files: nil)
            #expect(text?.contains("the body was masked whole before; put it in") == true)
        }
        let command = try CurlCommand(source.exchanges[0], source: source, files: nil)
        #expect(command.remarks == ["the body was masked whole before; put it in"])
    }
}
