import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Sharing

/// Masked cURL commands run with their secrets, by the shells that people have: the request is the recorded one, each field in its
/// place.
@Suite("Masked cURL commands send the request byte for byte", .serialized)
struct MaskedCurlTests {
    private static let secret = "hünter2'wörd"
    private static let json = #"{"name":"Jörg","password":"\#(secret)","again":"\#(secret)"}"#
    private static let shells = [["dash", "-eu"], ["bash", "-eu"]]

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Those between `Accept` and `Content-Type`.
        var fields: [String] = []
        var bytes: [UInt8]
        /// Whether a file has to have the body.
        var isHeld = false
        var isInFile = false
        /// What is sent where no file has the body as it was recorded.
        var decoded: String?
    }

    private static func packed(_ text: String) throws -> [UInt8] {
        Array(try ContentEncoder.encode(ByteBuffer(string: text), coding: .gzip).readableBytesView)
    }

    static func cases() throws -> [Case] {
        let long =
            #"{"password":"\#(secret)","fill":"\#((0..<20_000).map { "\($0 &* 2_654_435_761 % 65_521)" }.joined())"}"#
        let wide: [UInt8] = [0xFF, 0xFE] + json.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] as [UInt8] }
        let binary: [UInt8] = [0, 1, 0xFF, 0x25, 0x27] + Array("\r\n{\"password\":\"\(secret)\"}".utf8)
        return [
            Case(testDescription: "JSON", bytes: Array(json.utf8)),
            Case(testDescription: "no secret in the body", bytes: Array("a=1".utf8)),
            Case(testDescription: "bytes", bytes: binary),
            Case(testDescription: "JSON in a file", bytes: Array(long.utf8), isInFile: true),
            Case(testDescription: "UTF-16", bytes: wide, isHeld: true),
            Case(
                testDescription: "gzip",
                fields: ["Content-Encoding:  gzip "],
                bytes: try packed(json),
                decoded: json
            ),
            Case(
                testDescription: "gzip in a file",
                fields: ["content-encoding: gzip"],
                bytes: try packed(long),
                isInFile: true,
                decoded: long
            ),
            Case(
                testDescription: "a packed file in gzip",
                fields: ["Content-Encoding: gzip"],
                bytes: Array(
                    try ContentEncoder.encode(ByteBuffer(bytes: try packed(json)), coding: .gzip).readableBytesView
                ),
                isHeld: true
            ),
            Case(
                testDescription: "what cannot be decoded",
                fields: ["Content-Encoding: gzip"],
                bytes: Array(repeatElement([0x93, 0x12, 0, 1, 2, 0x80, 0x81], count: 9).joined()),
                isHeld: true
            ),
        ]
    }

    private func exported(
        _ one: Case,
        to port: Int,
        in folder: TemporaryFolder
    ) throws -> (text: String, sent: [String]) {
        let source = MemorySource()
        let sent =
            ["Host: 127.0.0.1:\(port)", "User-Agent: mine", "Content-Length: \(one.bytes.count)", "Accept: */*"]
            + one.fields + ["Authorization: Bearer tok-5f4dcc3b5aa765d6", "Content-Type: application/json"]
        let exchange = try source.add(
            "http://127.0.0.1:\(port)/login",
            request: (["POST /login HTTP/1.1"] + sent).joined(separator: "\r\n") + "\r\n\r\n",
            requestBody: one.bytes
        )
        let masked = MaskedSource(source, TextMask())
        try masked.collectAll(exchange)
        masked.mask.endCollecting()
        masked.mask.book.isForPrograms = true
        var output = ByteBuffer()
        let files = BodyDirectory(path: "\(folder.path)/it's bodies", referredToAs: "it's bodies")
        var export = CurlExport(source: masked, form: .scriptFile, files: files) { output.writeImmutableBuffer($0) }
        var rehearsal = export.rehearsal
        try rehearsal.add(masked.masked(exchange))
        export.begin(after: rehearsal)
        try export.add(masked.masked(exchange))
        try export.finish()
        let text = String(buffer: output)
        try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/script"))
        return (text, sent)
    }

    private func received(
        _ server: EchoServer,
        _ folder: TemporaryFolder,
        _ variables: [String],
        _ shell: [String]
    ) throws -> ReceivedRequest {
        let all = [
            "LC_ALL=C.UTF-8", "SLUICE_TOKEN_1=tok-5f4dcc3b5aa765d6", "SLUICE_PASSWORD_1=\(MaskedCurlTests.secret)",
        ]
        let child = try folder.run("env", all + variables + shell + ["\(folder.path)/script"])
        let received = try server.receive()
        #expect(child.wait() == 0)
        return received
    }

    @Test(arguments: try cases())
    func `what is sent`(_ one: Case) async throws {
        try await blocking {
            let (server, folder) = (try EchoServer(), try TemporaryFolder())
            let (text, sent) = try exported(one, to: server.port, in: folder)
            #expect(!text.contains("wörd") && !text.contains("5f4dcc"), "\(text.prefix(2_000))")
            #expect(text.contains("SLUICE_BODY_1") == (one.isHeld || one.decoded != nil), "\(text.prefix(2_000))")
            #expect(text.contains("it's bodies/exchange-1-body.bin") == one.isInFile, "\(text.prefix(2_000))")
            // The file may be longer than what stands here.
            if one.isHeld || one.decoded != nil { #expect(text.contains(" -H 'Expect:' ")) }
            let file = "\(folder.path)/a  body"
            try Data(one.bytes).write(to: URL(filePath: file))
            let body = "\(folder.path)/it's bodies/exchange-1-body.bin"
            if one.isInFile, one.decoded == nil { try Data(one.bytes).write(to: URL(filePath: body)) }
            if one.isHeld {
                try #require(text.contains("@\"${SLUICE_BODY_1:?"), "\(text)")
                let variables = ["SLUICE_TOKEN_1=x", "SLUICE_PASSWORD_1=y"]
                let child = try folder.run("env", variables + MaskedCurlTests.shells[0] + ["\(folder.path)/script"])
                #expect(child.wait() != 0, "\(text)")
            }
            for shell in MaskedCurlTests.shells {
                let got = try received(server, folder, ["SLUICE_BODY_1=\(file)"], shell)
                #expect(got.requestLine.text == "POST /login HTTP/1.1")
                #expect(got.fields.map(\.text) == sent, "\(shell): \(text.prefix(2_000))")
                #expect(got.body == one.bytes, "\(shell): \(text.prefix(2_000))")
            }
            guard let decoded = one.decoded else { return }
            // Without that file the decoded body goes with the secrets that the variables have.
            if one.isInFile { try Data(decoded.utf8).write(to: URL(filePath: body)) }
            for shell in MaskedCurlTests.shells {
                let got = try received(server, folder, [], shell)
                #expect(got.body == Array(decoded.utf8), "\(shell): \(text.prefix(2_000))")
                let fields = got.fields.map { $0.text.lowercased() }
                #expect(fields.contains("content-length: \(decoded.utf8.count)"), "\(fields)")
                #expect(!fields.contains { $0.hasPrefix("content-encoding") }, "\(fields)")
            }
        }
    }

    @Test("A file of a masked body is not sent as it is, but one of the body as it was recorded is")
    func guards() async throws {
        try await blocking {
            let (server, folder) = (try EchoServer(), try TemporaryFolder())
            let one = try #require(try MaskedCurlTests.cases().first { $0.testDescription == "gzip in a file" })
            let (text, _) = try exported(one, to: server.port, in: folder)
            let variables = ["SLUICE_TOKEN_1=x", "SLUICE_PASSWORD_1=y"]
            for shell in MaskedCurlTests.shells {
                let child = try folder.run("env", variables + shell + ["\(folder.path)/script"])
                #expect(child.wait() != 0, "\(text.prefix(2_000))")
            }
            let file = "\(folder.path)/body"
            try Data(one.bytes).write(to: URL(filePath: file))
            #expect(try received(server, folder, ["SLUICE_BODY_1=\(file)"], ["dash", "-eu"]).body == one.bytes)
        }
    }

    @Test(
        "A content coding is no command where a file has to have the body",
        arguments: [CopyForm.curl, .httpie, .fetch, .python]
    )
    func hostileHeld(_ form: CopyForm) async throws {
        try await blocking {
            let folder = try TemporaryFolder()
            let source = MemorySource()
            let coding = "x}\"$(touch ran)`touch ran`'\"; touch ran; \"\");process.exit(0);//"
            let exchange = try source.add(
                "http://h/",
                request: "POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: \(coding)\r\n\r\n",
                requestBody: try MaskedCurlTests.packed(MaskedCurlTests.json)
            )
            let masked = MaskedSource(source, TextMask())
            try masked.collectAll(exchange)
            masked.mask.endCollecting()
            masked.mask.book.isForPrograms = true
            let text = try #require(try form.text(masked.masked(exchange), source: masked, files: nil))
            #expect(text.contains("SLUICE_BODY_1"), "\(text)")
            try Data("cd '\(folder.path)'; PATH=/bin:/usr/bin\n\(text)".utf8)
                .write(to: URL(filePath: "\(folder.path)/script"))
            guard form.isCommand else { return #expect(!text.contains("recorded (")) }
            for shell in MaskedCurlTests.shells {
                let child = try folder.run("env", shell + ["\(folder.path)/script"])
                #expect(child.wait() != 0, "\(text)")
                #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/ran"), "\(text)")
            }
        }
    }

    @Test("Nor does one end the comment that names it", arguments: [CopyForm.curl, .httpie, .fetch, .python])
    func hostileComment(_ form: CopyForm) throws {
        let source = MemorySource()
        let exchange = try source.add(
            "http://h/",
            request: "POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: x\u{2028}first\u{85}second\r\n\r\n",
            requestBody: Array(MaskedCurlTests.json.utf8)
        )
        let masked = MaskedSource(source, TextMask())
        try masked.collectAll(exchange)
        masked.mask.endCollecting()
        masked.mask.book.isForPrograms = true
        let text = try #require(try form.text(masked.masked(exchange), source: masked, files: nil))
        #expect(!text.unicodeScalars.contains("\u{2028}") && !text.unicodeScalars.contains("\u{85}"), "\(text)")
    }

    @Test("What stands in a content coding is no command to a shell")
    func hostile() async throws {
        try await blocking {
            let (server, folder) = (try EchoServer(), try TemporaryFolder())
            let coding = "x}'$(touch ran)`touch ran`\"$(touch ran)"
            let one = Case(
                testDescription: "",
                fields: ["Content-Encoding: \(coding)"],
                bytes: Array(MaskedCurlTests.json.utf8),
                decoded: MaskedCurlTests.json
            )
            let (text, sent) = try exported(one, to: server.port, in: folder)
            let file = "\(folder.path)/body"
            try Data(one.bytes).write(to: URL(filePath: file))
            for shell in MaskedCurlTests.shells {
                let got = try received(server, folder, ["SLUICE_BODY_1=\(file)"], shell)
                #expect(got.fields.map(\.text) == sent, "\(text)")
                #expect(try received(server, folder, [], shell).body == one.bytes)
                #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/ran"), "\(text)")
            }
        }
    }
}
