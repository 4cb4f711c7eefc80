import Content
import Foundation
import HTTPModel
import Masking
import NIOCore
import Support
import Testing

@testable import Formats

/// Masked cURL commands run with their secrets, by the shells that people have: the request is the recorded one, each field in its
/// place.
@Suite("Masked cURL commands send the request", .serialized)
struct MaskedCurlTests {
    private static let secret = "hünter2'wörd"
    private static let json = #"{"name":"Jörg","password":"\#(secret)","again":"\#(secret)"}"#
    private static let shells = [["dash", "-eu"], ["bash", "-eu"]]

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Those between `Accept` and `Content-Type`.
        var fields: [String] = []
        var bytes: [UInt8]
        /// What is sent with the variables set, if that is not what was recorded.
        var sent: String?
        var isInFile = false
        var remark = ""
    }

    private static func packed(_ text: String) throws -> [UInt8] {
        Array(try ContentEncoder.encode(ByteBuffer(string: text), coding: .gzip).readableBytesView)
    }

    static func cases() throws -> [Case] {
        func long(_ secret: String) -> String {
            #"{"password":"\#(secret)","fill":"\#((0..<20_000).map { "\($0 &* 2_654_435_761 % 65_521)" }.joined())"}"#
        }
        return [
            Case(testDescription: "JSON", bytes: Array(json.utf8)),
            Case(testDescription: "no secret in the body", bytes: Array("a=1".utf8)),
            Case(
                testDescription: "text with a tab",
                bytes: Array("\t{\"password\":\"\(secret)\"}".utf8),
                sent: "\t{\"password\":\"sluice-password-1\"}",
                remark: "# put the secret in place of sluice-password-1\n"
            ),
            Case(
                testDescription: "JSON in a file",
                bytes: Array(long(secret).utf8),
                sent: long("sluice-password-1"),
                isInFile: true,
                remark: "secrets are masked; put them in where it says sluice-…"
            ),
            Case(
                testDescription: "gzip",
                fields: ["Content-Encoding:  gzip "],
                bytes: try packed(json),
                sent: json,
                remark: "the body is sent without its Content-Encoding, gzip, as it is masked"
            ),
            Case(
                testDescription: "a coding that a shell could read",
                fields: ["Content-Encoding: x}'$(touch ran)`touch ran`\"$(touch ran)\u{2028}touch ran"],
                bytes: Array(json.utf8),
                sent: json,
                remark: "the body is sent without its Content-Encoding, x"
            ),
            Case(
                testDescription: "bytes that cannot be decoded",
                fields: ["Content-Encoding: gzip"],
                bytes: Array(repeatElement([0x93, 0x12, 0, 1, 2, 0x80, 0x81], count: 9).joined()),
                sent: "",
                remark: "the body is left out, as it cannot be decoded to look for secrets"
            ),
        ]
    }

    private func exported(
        _ one: Case,
        to port: Int,
        in folder: TemporaryFolder
    ) throws -> (text: String, fields: [String]) {
        let source = MemorySource()
        let fields =
            ["Host: 127.0.0.1:\(port)", "User-Agent: mine", "Content-Length: \(one.bytes.count)", "Accept: */*"]
            + one.fields + ["Authorization: Bearer tok-5f4dcc3b5aa765d6", "Content-Type: application/json"]
        let exchange = try source.add(
            "http://127.0.0.1:\(port)/login",
            request: (["POST /login HTTP/1.1"] + fields).joined(separator: "\r\n") + "\r\n\r\n",
            requestBody: one.bytes
        )
        let masked = MaskedSource(source, TextMask())
        try masked.collectAll(exchange)
        masked.mask.endCollecting()
        masked.marksSecrets = true
        var output = ByteBuffer()
        let files = BodyDirectory(path: "\(folder.path)/it's bodies", referredToAs: "it's bodies")
        var export = CurlExport(source: masked, form: .scriptFile, files: files) { output.writeImmutableBuffer($0) }
        try export.add(masked.masked(exchange))
        try export.finish()
        let text = String(buffer: output)
        try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/script"))
        return (text, fields)
    }

    @Test(arguments: try cases())
    func `with its variables set`(_ one: Case) async throws {
        try await blocking {
            let (server, folder) = (try EchoServer(), try TemporaryFolder())
            let (text, fields) = try exported(one, to: server.port, in: folder)
            #expect(!text.contains("wörd") && !text.contains("5f4dcc"), "\(text.prefix(2_000))")
            #expect(text.contains("\"${SLUICE_TOKEN_1:?token of 127.0.0.1}\""), "\(text.prefix(2_000))")
            #expect(text.contains("it's bodies/exchange-1-body.bin") == one.isInFile, "\(text.prefix(2_000))")
            #expect(one.remark.isEmpty || text.contains(one.remark), "\(text.prefix(2_000))")
            #expect(!text.contains("\u{2028}"))
            // curl writes the length of a masked body.
            let dropped = one.sent == nil ? [] : ["content-length", "content-encoding"]
            func kept(_ fields: [String], without names: [String]) -> [String] {
                fields.filter { field in !names.contains { field.lowercased().hasPrefix($0) } }
            }
            for shell in MaskedCurlTests.shells {
                let all = [
                    "LC_ALL=C.UTF-8", "SLUICE_TOKEN_1=tok-5f4dcc3b5aa765d6",
                    "SLUICE_PASSWORD_1=\(MaskedCurlTests.secret)",
                ]
                let child = try folder.run("env", all + shell + ["\(folder.path)/script"])
                let got = try Result { try server.receive() }.getReporting(text)
                #expect(child.wait() == 0, "\(text.prefix(2_000))")
                #expect(got.requestLine.text == "POST /login HTTP/1.1")
                #expect(got.body == one.sent.map { Array($0.utf8) } ?? one.bytes, "\(shell): \(text.prefix(2_000))")
                let received = got.fields.map(\.text)
                let names = text.contains("SLUICE_PASSWORD") ? dropped + ["content-length"] : dropped
                #expect(
                    kept(received, without: names) == kept(fields, without: names),
                    "\(shell): \(text.prefix(2_000))"
                )
                #expect(!received.contains { $0.lowercased().hasPrefix("content-encoding") }, "\(received)")
                #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/ran"), "\(text)")
            }
        }
    }

    @Test("Without its variables a script ends before anything is sent", arguments: [CopyForm.curl, .httpie])
    func unset(_ form: CopyForm) async throws {
        try await blocking {
            let folder = try TemporaryFolder()
            let source = MemorySource()
            let head = "POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Type: application/json\r\n"
            let lines = "Content-Length: \(MaskedCurlTests.json.utf8.count)\r\nX-Api-Key: kJ8sd7Fh2lQp9ZxV4Nm\r\n\r\n"
            let exchange = try source.add(
                "http://api.example.com/",
                request: head + lines,
                requestBody: Array(MaskedCurlTests.json.utf8)
            )
            let masked = MaskedSource(source, TextMask())
            try masked.collectAll(exchange)
            masked.mask.endCollecting()
            masked.marksSecrets = true
            let text = try #require(try form.text(masked.masked(exchange), source: masked, files: nil))
            #expect(text.contains("\"${SLUICE_KEY_1:?key of api.example.com}\""), "\(text)")
            let script = "curl() { touch ran; }\nhttp() { touch ran; }\n\(text)\n"
            try Data(script.utf8).write(to: URL(filePath: "\(folder.path)/script"))
            func run(_ variables: [String], _ shell: [String]) throws -> Bool {
                let path = "\(folder.path)/ran"
                try? FileManager.default.removeItem(atPath: path)
                let child = try folder.run("env", variables + shell + ["\(folder.path)/script"])
                let isWell = child.wait() == 0
                #expect(isWell == FileManager.default.fileExists(atPath: path), "\(text)")
                return isWell
            }
            for shell in MaskedCurlTests.shells + [["zsh"]] {
                #expect(try !run(["SLUICE_KEY_1=a"], shell), "\(text)")
                #expect(try !run(["SLUICE_PASSWORD_1=a"], shell), "\(text)")
                #expect(try run(["SLUICE_KEY_1=a", "SLUICE_PASSWORD_1=b"], shell), "\(text)")
            }
        }
    }
}
