import Content
import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Mirror")
struct MirrorTests {
    /// An exchange whose work is done at once, where it is asked for.
    private func dialogue(
        _ folder: TestFolder,
        _ url: String,
        method: String = "GET",
        keys: String = ""
    ) throws -> Dialogue {
        let profile = try RuleProfile("version: 1\nmirror: { name: m, to: m/\(keys) }", file: "\(folder.path)/p.yaml")
        let dialogue = Dialogue(profile.chain.stages, url: url, method: method)
        dialogue.onEffect = { [unowned dialogue] effect, machine in
            switch effect {
            case .perform(let work, let direction, let generation):
                machine.workDone(direction, generation: generation, work.run(), now: dialogue.now)
            case .performAfterwards(let work): _ = work.run()
            default: break
            }
        }
        return dialogue
    }

    /// Plays a whole exchange.
    @discardableResult
    private func get(
        _ folder: TestFolder,
        _ url: String,
        _ body: [ByteBuffer],
        status: Int = 200,
        method: String = "GET",
        keys: String = "",
        _ fields: [(String, String)] = []
    ) throws -> Dialogue {
        let dialogue = try dialogue(folder, url, method: method, keys: keys)
        dialogue.request()
        _ = dialogue.takePending()
        dialogue.ready()
        _ = dialogue.takePending()
        dialogue.responseHead(status, .chunked, fields)
        _ = dialogue.takePending()
        for part in body {
            dialogue.responsePart(part)
            _ = dialogue.takePending()
        }
        dialogue.responseEnd()
        #expect(dialogue.takePending().last?.hasPrefix("work") == true || dialogue.isOver)
        dialogue.finish()
        return dialogue
    }

    private func get(_ folder: TestFolder, _ url: String, _ body: String, _ fields: [(String, String)] = []) throws {
        try get(folder, url, [ByteBuffer(string: body)], fields)
    }

    private static let html = [("Content-Type", "text/html; charset=utf-8")]

    @Test("Responses are saved by host and path, the query included; a later one takes the place")
    func saves() throws {
        let folder = TestFolder()
        let saved = try get(
            folder,
            "https://a.example/v1/items.json?page=2",
            [ByteBuffer(string: "[1,"), ByteBuffer(string: "2]")],
            [("Content-Type", "application/json")]
        )
        #expect(saved.trace == ["mirror(m): saved as m/a.example/v1/items.json?page=2"])
        #expect(String(buffer: saved.responseBody) == "[1,2]")
        #expect(folder.text("m/a.example/v1/items.json?page=2") == "[1,2]")
        try get(folder, "https://a.example/", "old", MirrorTests.html)
        try get(folder, "https://a.example/", "new", MirrorTests.html)
        try get(folder, "http://a.example:8080/x.html", "x", MirrorTests.html)
        #expect(
            folder.files == [
                "m/a.example/index.html", "m/a.example/v1/items.json?page=2",
                "m/a.example_8080/x.html",
            ]
        )
        #expect(folder.text("m/a.example/index.html") == "new")
    }

    @Test(
        "Nothing is gathered: each part is in the file before the client has it, under another name until all is there"
    )
    func streams() throws {
        let folder = TestFolder()
        let dialogue = try dialogue(folder, "http://a.example/s.txt")
        dialogue.request()
        _ = dialogue.takePending()
        dialogue.ready()
        _ = dialogue.takePending()
        dialogue.responseHead(200, .length(6), [("Content-Type", "text/plain; charset=utf-8")])
        #expect(dialogue.takePending() == ["work response 1", "< 200 (6)"])
        let temporary = try #require(folder.files.first)
        #expect(folder.files.count == 1 && temporary.hasPrefix("m/a.example/.sluice-") && temporary.hasSuffix(".part"))
        dialogue.responsePart("one")
        #expect(dialogue.takePending() == ["work response 2", "< part 'one'"])
        #expect(folder.text(temporary) == "one")
        dialogue.responsePart("two")
        _ = dialogue.takePending()
        #expect(folder.text(temporary) == "onetwo")
        dialogue.responseEnd()
        _ = dialogue.takePending()
        dialogue.finish()
        #expect(folder.files == ["m/a.example/s.txt"])
        #expect(folder.text("m/a.example/s.txt") == "onetwo")
        // What passed may hold secrets.
        for (name, mode) in [("m", 0o700), ("m/a.example", 0o700), ("m/a.example/s.txt", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
    }

    /// A response of which a part has come.
    private func begun(_ folder: TestFolder, _ url: String) throws -> Dialogue {
        let dialogue = try dialogue(folder, url)
        dialogue.request()
        _ = dialogue.takePending()
        dialogue.ready()
        _ = dialogue.takePending()
        dialogue.responseHead(200, .length(10), MirrorTests.html)
        _ = dialogue.takePending()
        dialogue.responsePart("part")
        _ = dialogue.takePending()
        return dialogue
    }

    @Test("A response that is not whole leaves nothing, and what was there before stays")
    func incomplete() throws {
        let folder = TestFolder()
        try get(folder, "http://a.example/s.html", "before", MirrorTests.html)
        let dialogue = try begun(folder, "http://a.example/s.html")
        dialogue.upstreamClosed()
        _ = dialogue.takePending()
        dialogue.finish()
        #expect(folder.files == ["m/a.example/s.html"])
        #expect(folder.text("m/a.example/s.html") == "before")
        #expect(dialogue.trace == ["mirror: m: not saved, because the response was incomplete"])
    }

    @Test("Nor does one whose client went away, and the trace does not say that it was saved")
    func clientGone() throws {
        let folder = TestFolder()
        let dialogue = try begun(folder, "http://a.example/s.html")
        dialogue.clientGone()
        _ = dialogue.takePending()
        dialogue.finish()
        #expect(folder.files.isEmpty)
        #expect(dialogue.trace.last == "mirror: m: not saved, because the response was incomplete")
        #expect(!dialogue.trace.contains { $0.contains(": saved") }, "\(dialogue.trace)")
    }

    /// The body as it comes, so many bytes at a time.
    private static func pieces(of body: ByteBuffer, _ length: Int) -> [ByteBuffer] {
        var rest = body
        var pieces: [ByteBuffer] = []
        while let piece = rest.readSlice(length: min(length, rest.readableBytes)), piece.readableBytes > 0 {
            pieces.append(piece)
        }
        return pieces
    }

    @Test(
        "The content coding is removed in the file; the client gets what the server sent",
        arguments: [[ContentCoding.gzip], [.brotli], [.zstd], [.deflate], [.gzip, .brotli]]
    )
    func codings(codings: [ContentCoding]) throws {
        let folder = TestFolder()
        let text = (0..<20_000).map { "line \($0)\n" }.joined()
        let coded = try ContentEncoder.encode(ByteBuffer(string: text), codings: codings)
        let parts = MirrorTests.pieces(of: coded, 999)
        let names = codings.map(\.description).joined(separator: ", ")
        let saved = try get(
            folder,
            "http://a.example/t.html",
            parts,
            MirrorTests.html + [("Content-Encoding", names)]
        )
        #expect(folder.text("m/a.example/t.html") == text)
        #expect(saved.responseBody == coded)
        #expect(saved.responseHead?.fields.value(of: .contentEncoding) == names)
        #expect(saved.trace == ["mirror(m): saved as m/a.example/t.html (without its content coding, \(names))"])
        #expect(saved.record.flags.isEmpty)
    }

    @Test(
        "A body that grows too much without its coding is saved as it was received, and plays back so",
        arguments: [[ContentCoding.gzip], [.gzip, .zstd]]
    )
    func bomb(codings: [ContentCoding]) throws {
        let folder = TestFolder()
        let coded = try ContentEncoder.encode(ByteBuffer(repeating: 0, count: 40 << 20), codings: codings)
        let parts = MirrorTests.pieces(of: coded, 9_999)
        let names = codings.map(\.description).joined(separator: ", ")
        let saved = try get(
            folder,
            "http://a.example/t.html",
            parts,
            [("Content-Type", "text/x-large"), ("Content-Encoding", names)]
        )
        #expect(saved.responseBody == coded)
        #expect(saved.trace.count == 1)
        let words = "mirror(m): saved as m/a.example/t.html (with its content coding, as it was received: "
        #expect(saved.trace.last?.hasPrefix(words) == true, "\(saved.trace)")
        #expect(saved.trace.last?.contains("the limit of 16777216 bytes") == true, "\(saved.trace)")
        #expect(folder.files == ["m/a.example/t.html", "m/a.example/t.html.headers"])
        let file = FileManager.default.contents(atPath: folder.path + "/m/a.example/t.html")
        #expect(file == Data(coded.readableBytesView))
        #expect(
            folder.text("m/a.example/t.html.headers") == "Content-Type: text/x-large\nContent-Encoding: \(names)\n"
        )
        let profile = try RuleProfile(
            "version: 1\nmap-local: { from: 'a.example', to: m/a.example }",
            file: "\(folder.path)/p.yaml"
        )
        var dryRun = DryRun(profile)
        let answered = dryRun.play(try #require(DryRunRequest("http://a.example/t.html"))).answered
        #expect(answered?.head.fields.value(of: .contentEncoding) == names)
        #expect(answered?.body == coded)
    }

    @Test("A coding that is damaged, or not known: not saved, or saved as it is; the traffic goes on")
    func badCodings() throws {
        let folder = TestFolder()
        let damaged = try get(
            folder,
            "http://a.example/a.html",
            [ByteBuffer(string: "no gzip"), ByteBuffer(string: "more")],
            MirrorTests.html + [("Content-Encoding", "gzip")]
        )
        #expect(String(buffer: damaged.responseBody) == "no gzipmore")
        #expect(damaged.trace.count == 1)
        #expect(
            damaged.trace.last?.hasPrefix("mirror: m: not saved after all: its content coding cannot be removed")
                == true
        )
        #expect(folder.files.isEmpty)
        let whole = try ContentEncoder.encode(ByteBuffer(string: "text"), codings: [.gzip])
        let cut = whole.getSlice(at: 0, length: whole.readableBytes - 4) ?? whole
        let short = try get(folder, "http://a.example/b.html", [cut], MirrorTests.html + [("Content-Encoding", "gzip")])
        #expect(folder.files.isEmpty)
        #expect(short.trace.count == 1 && short.trace.first?.hasPrefix("mirror: m: not saved after all: ") == true)
        try get(folder, "http://a.example/c.html", "xyz", MirrorTests.html + [("Content-Encoding", "rot13")])
        #expect(folder.text("m/a.example/c.html") == "xyz")
        #expect(folder.text("m/a.example/c.html.headers") == "Content-Encoding: rot13\n")
    }

    @Test(
        "Saved are successful responses to GET, whole ones",
        arguments: [
            (200, "GET", true), (203, "GET", true), (204, "GET", true), (206, "GET", false), (301, "GET", false),
            (304, "GET", false), (404, "GET", false), (500, "GET", false), (200, "POST", false), (200, "HEAD", false),
        ]
    )
    func which(status: Int, method: String, isSaved: Bool) throws {
        let folder = TestFolder()
        try get(folder, "http://a.example/x.html", [], status: status, method: method, MirrorTests.html)
        #expect(folder.files == (isSaved ? ["m/a.example/x.html"] : []))
    }

    @Test("A URL that is a file and a directory keeps both, whichever comes first; map-local finds all of them")
    func fileAndDirectory() throws {
        for order in [["/a", "/a/b", "/a/"], ["/a/b", "/a/", "/a"], ["/a/", "/a", "/a/b", "/a"]] {
            let folder = TestFolder()
            for path in order {
                try get(folder, "http://a.example\(path)", path, [("Content-Type", "text/x-\(path.utf8.count)")])
            }
            #expect(
                folder.files == [
                    "m/a.example/a%", "m/a.example/a%.headers", "m/a.example/a/b", "m/a.example/a/b.headers",
                    "m/a.example/a/index.html", "m/a.example/a/index.html.headers",
                ]
            )
            let profile = try RuleProfile(
                "version: 1\nmap-local: { from: 'a.example', to: m/a.example }",
                file: "\(folder.path)/p.yaml"
            )
            var dryRun = DryRun(profile)
            for path in order {
                let exchange = dryRun.play(try #require(DryRunRequest("http://a.example\(path)")))
                #expect(exchange.answered.map { String(buffer: $0.body) } == path)
                #expect(exchange.answered?.head.fields.value(of: .contentType) == "text/x-\(path.utf8.count)")
            }
        }
    }

    @Test("A mirrored tree answers for itself, byte by byte and type by type")
    func roundTrip() throws {
        let folder = TestFolder()
        let pages: [(path: String, body: String, type: String)] = [
            ("/", "<html>", "text/html; charset=utf-8"), ("/v1/users", "[]", "application/json"),
            ("/about", "<p>", "text/html; charset=iso-8859-1"), ("/caf%C3%A9/%20x", "é", "text/plain; charset=utf-8"),
            ("/style.css", "a{}", "text/css; charset=utf-8"), ("/a%26b", "&", "text/plain; charset=utf-8"),
        ]
        for page in pages { try get(folder, "https://a.example\(page.path)", page.body, [("Content-Type", page.type)]) }
        #expect(!folder.files.contains("m/a.example/style.css.headers"))
        #expect(folder.text("m/a.example/about.headers") == "Content-Type: text/html; charset=iso-8859-1\n")
        let profile = try RuleProfile(
            "version: 1\nmap-local: { from: 'a.example', to: m/a.example }",
            file: "\(folder.path)/p.yaml"
        )
        var dryRun = DryRun(profile)
        for page in pages {
            let exchange = dryRun.play(try #require(DryRunRequest("https://a.example\(page.path)")))
            #expect(exchange.answered.map { String(buffer: $0.body) } == page.body)
            #expect(exchange.answered?.head.fields.value(of: .contentType) == page.type)
        }
        try get(folder, "https://a.example/v1/users", "x", [("Content-Type", "application/octet-stream")])
        #expect(!folder.files.contains("m/a.example/v1/users.headers"))
    }

    @Test("A disk that does not take it leaves the traffic alone, and the trace says so")
    func diskErrors() throws {
        let folder = TestFolder(["m/a.example": "a file where the directory would be", "other": "x"])
        try folder.link("m/b.example", to: "../other")
        let moved = try get(folder, "http://a.example/x.html", [ByteBuffer(string: "x")], MirrorTests.html)
        #expect(moved.trace == ["mirror(m): saved as m/a.example/x.html"])
        #expect(folder.text("m/a.example%") == "a file where the directory would be")
        let linked = try get(folder, "http://b.example/x.html", [ByteBuffer(string: "x")], MirrorTests.html)
        #expect(String(buffer: linked.responseBody) == "x")
        #expect(linked.trace == ["mirror: m: not saved as m/b.example/x.html: Not a directory"])
        let blocked = TestFolder(["m": "a file"])
        let refused = try get(blocked, "http://a.example/x.html", [ByteBuffer(string: "x")], MirrorTests.html)
        #expect(String(buffer: refused.responseBody) == "x")
        #expect(refused.trace.first?.hasPrefix("mirror: m: not saved as m/a.example/x.html: ") == true)
    }

    @Test("What map-local answers is not saved; only chosen locations are")
    func scope() throws {
        let folder = TestFolder(["f/x.html": "local"])
        let profile = try RuleProfile(
            "version: 1\nmap-local: { from: '*', to: f }\nmirror: { to: m }",
            file: "\(folder.path)/p.yaml"
        )
        let dialogue = Dialogue(profile.chain.stages, url: "http://a.example/x.html")
        dialogue.onEffect = { [unowned dialogue] effect, machine in
            if case .perform(let work, let direction, let generation) = effect {
                machine.workDone(direction, generation: generation, work.run(), now: dialogue.now)
            }
        }
        dialogue.request()
        _ = dialogue.takePending()
        dialogue.finish()
        #expect(String(buffer: dialogue.responseBody) == "local")
        #expect(folder.files == ["f/x.html"])
        #expect(dialogue.trace.last == "mirror: rule 1: not saved, because the answer is not from a server")
        var dryRun = DryRun(profile)
        let played = dryRun.play(try #require(DryRunRequest("http://a.example/x.html")), DryRunResponse())
        #expect(played.trace.last?.text == "rule 1: not saved, because the answer is not from a server")
        try get(folder, "http://b.example/x.html", [], keys: ", only: c.example", MirrorTests.html)
        #expect(folder.files == ["f/x.html"])
    }

    @Test("A directory that cannot be made is a lint")
    func lints() {
        let folder = TestFolder(["file": ""])
        #expect(
            issues("version: 1\nmirror: { to: \(folder.path)/file/x }") == [
                "2:15 lint '\(folder.path)/file' is a file, not a directory"
            ]
        )
        #expect(issues("version: 1\nmirror: { to: \(folder.path)/new/deep }").isEmpty)
        #expect(issues("version: 1\nmirror: { only: a }") == ["2:9 a mirror rule needs 'to'"])
    }
}
