import Foundation
import HTTPModel
import Support
import Terminal
import Testing

@testable import Console
@testable import Description
@testable import Runner

/// The empty screen, the page of `!`, and what is said where a client does not trust the certificate.
struct FirstStepsTests {
    private static let paths = [
        "/home/ann/.local/share/sluice/ca.pem", "/Users/ann lee/it's/Application Support/sluice/ca-cert.pem",
    ]

    private static func model(_ width: Int, _ path: String, address: String = "127.0.0.1:17800") -> ConsoleModel {
        var model = ModelFixture.started(Size(width: width, height: 60))
        _ = model.update(.ready(authority: path))
        _ = model.update(.proxy(ModelFixture.status(address: address), []))
        return model
    }

    /// The rows below a title on the screen, up to the first that does not go on.
    private static func command(below title: String, on screen: CellBuffer) -> String? {
        let rows = (0..<screen.size.height).map { screen.row($0) }
        guard let start = rows.firstIndex(where: { $0.trimmingCharacters(in: .whitespaces).hasPrefix(title) }) else {
            return nil
        }
        let end = rows[(start + 1)...].firstIndex { !$0.hasSuffix("\\") } ?? rows.count - 1
        return rows[(start + 1)...end].joined(separator: "\n")
    }

    private static func run(_ script: String, _ options: [String] = []) throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = options + ["-c", script]
        process.environment = [:]
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }

    @Test(arguments: paths)
    func `commands on the screen are right at every width`(_ path: String) throws {
        var checks: [(script: String, wanted: String)] = []
        for width in 20...200 {
            let screen = ConsoleView.draw(Self.model(width, path))
            let curl = try #require(Self.command(below: "1 curl", on: screen), "\(width)")
            let shell = try #require(Self.command(below: "3 a shell", on: screen), "\(width)")
            checks.append(
                (
                    "curl() { printf '<%s>' \"$@\"; }\n\(curl)",
                    "<--proxy><127.0.0.1:17800><--cacert><\(path)><https://example.com/>"
                )
            )
            let set = "http://127.0.0.1:17800"
            checks.append(("\(shell)\nprintf '<%s>' \"$http_proxy\" \"$https_proxy\"; export -p", "<\(set)><\(set)>"))
        }
        // Many in one shell: a shell for each would take long.
        for start in stride(from: 0, to: checks.count, by: 40) {
            let part = checks[start..<min(start + 40, checks.count)]
            let script = part.map { "(\n\($0.script.replacing("; export -p", with: ""))\n); echo" }.joined(
                separator: "\n"
            )
            #expect(try Self.run(script, ["-n"]).status == 0)
            let lines = try Self.run(script).output.split(separator: "\n").map(String.init)
            #expect(lines == part.map(\.wanted))
        }
        // They are exported, too.
        let shell = try #require(checks.first { $0.script.contains("export -p") })
        let exported = try Self.run(shell.script).output
        #expect(exported.contains("export http_proxy=") && exported.contains("export https_proxy="))
    }

    @Test(arguments: paths)
    func `commands of the help on trust are broken between words, and copied whole from any row`(_ path: String) throws
    {
        let help = TrustHelp.lines(path: path)
        #expect(help.compactMap(\.command).count > 10)
        #expect(TrustHelp.text(path: path).contains("\n  curl      curl --cacert '\(path)' …\n"))
        let document = DetailDocument(lines: help.map { DetailLine($0) })
        for width in [60, 76, 118] {
            let rows = DocumentRows(document, [], width: width)
            for (number, line) in document.lines.enumerated() where line.keepsWords {
                let text = Array(line.spans.map(\.text).joined().utf8)
                let parts = rows.rows(number)
                for (row, next) in zip(parts, parts.dropFirst()) {
                    let place = next.lowerBound.offset
                    let isBetween = row.upperBound < next.lowerBound || text[place - 1] == 0x20
                    let before = text[..<place].reversed().prefix { $0 != 0x20 }
                    let word = before.count + text[place...].prefix { $0 != 0x20 }.count
                    #expect(isBetween || word > width - line.indent, "\(width): \(line.plain)")
                }
            }
        }
        var model = Self.model(80, path)
        model.answer { $0.report(FirstSteps.title, document) }
        let sudo = try #require(document.lines.firstIndex { $0.plain.contains("sudo cp") && $0.plain.contains(".crt") })
        for _ in 0..<document.lines.count * 3 where Self.cursor(model) != sudo { model.press("down") }
        let copied = model.perform(.copy, "line")
        let wanted = "sudo cp '\(path)' /usr/local/share/ca-certificates/sluice.crt && sudo update-ca-certificates"
        #expect(copied.words == ["copy text \(wanted)"])
    }

    private static func cursor(_ model: ConsoleModel) -> Int? {
        if case .report(let report)? = model.overlays.last { report.text.reading.cursor.line } else { nil }
    }

    @Test func `a row of a command that goes on copies all of it`() throws {
        var model = Self.model(60, Self.paths[0])
        let document = DetailDocument(lines: FirstSteps(model).lines(width: 56))
        let row = try #require(document.lines.firstIndex { $0.plain.contains("curl --proxy") })
        #expect(document.lines[row].plain.hasSuffix("\\"))
        model.answer { $0.report(FirstSteps.title, document) }
        for _ in 0..<document.lines.count * 3 where Self.cursor(model) != row { model.press("down") }
        let copied = model.perform(.copy, "line")
        let wanted = FirstSteps(model).items[0].text
        #expect(copied.words == ["copy text \(wanted)"])
    }

    @Test(arguments: paths)
    func `the page of the first steps has the same commands, and the address first`(_ path: String) throws {
        for width in stride(from: 20, through: 200, by: 9) {
            let steps = FirstSteps(Self.model(width, path))
            let lines = steps.lines(width: width)
            #expect(lines[0].plain == "HTTP and HTTPS proxy: 127.0.0.1:17800")
            let text = lines.filter { !$0.wraps }.map(\.plain).joined(separator: "\n")
            let script = "curl() { printf '<%s>' \"$@\"; }\nsluice() { :; }\n\(text)\nprintf '<%s>' \"$https_proxy\""
            let wanted = "<--proxy><127.0.0.1:17800><--cacert><\(path)><https://example.com/><http://127.0.0.1:17800>"
            #expect(try Self.run(script).output == wanted, "\(width)")
        }
    }

    @Test func `a number copies what it stands beside, on the empty screen and on its page`() {
        var model = Self.model(80, Self.paths[0])
        let curl = "curl --proxy 127.0.0.1:17800 --cacert \(Self.paths[0]) https://example.com/"
        #expect(model.press("1").words == ["copy text \(curl)"])
        #expect(model.press("4").words == ["copy text 127.0.0.1:17800"])
        #expect(!model.press("9").words.contains { $0.hasPrefix("copy text") })
        #expect(model.press("!").words == ["trust 127.0.0.1:17800"])
        model.answer { $0.report(FirstSteps.title, DetailDocument(lines: FirstSteps($0).lines(width: 70))) }
        #expect(model.press("3").words.first?.hasPrefix("copy text export http_proxy=") == true)
        var listing = ModelFixture.listing(ModelFixture.plain(2), Size(width: 80, height: 24))
        #expect(!listing.press("1").words.contains { $0.hasPrefix("copy text") })
    }

    @Test func `the code for a phone is on the screen at 80 by 24, beside the commands`() throws {
        var model = Self.model(80, Self.paths[0], address: "0.0.0.0:17800")
        model.answer { $0.proxy.addresses = ["192.168.1.20", "2001:db8::5"] }
        _ = model.update(.resized(Size(width: 80, height: 24)))
        let screen = ConsoleView.draw(model)
        let text = screen.text
        #expect(text.contains("▀") || text.contains("▄"))
        for word in ["1 curl", "3 a shell", "a phone", "192.168.1.20:17800"] { #expect(text.contains(word), "\(word)") }
        let lines = FirstSteps(model).lines(width: 76)
        #expect(lines.contains { $0.plain.contains("█") || $0.plain.contains("▀") })
        #expect(lines[1].plain.contains("192.168.1.20:17800, [2001:db8::5]:17800"))
    }

    @Test(arguments: ["0.0.0.0:17800", "[::]:17800"])
    func `an address that cannot be typed is never shown`(_ address: String) {
        for addresses in [[], ["10.1.2.3"]] {
            var model = Self.model(120, Self.paths[0], address: address)
            model.answer { $0.proxy.addresses = addresses }
            let rows = ConsoleView.draw(model).text.split(separator: "\n").filter { $0.contains("proxy") }
            #expect(rows.allSatisfy { !$0.contains(address) }, "\(rows)")
            let steps = FirstSteps(model)
            #expect(steps.items.allSatisfy { !$0.text.contains(address) })
            #expect(steps.here == "127.0.0.1:17800")
            #expect(steps.phone.contains(addresses.first ?? "this machine's address"))
        }
    }

    @Test func `every listener is there to be copied, and a forward proxy only where there is one`() {
        var model = Self.model(120, Self.paths[0])
        let others = [
            ListenerState(mode: "reverse:https://api.example.com", address: "0.0.0.0:8443"),
            ListenerState(mode: "reverse:tcp://db.example:5432", address: "127.0.0.1:5432"),
            ListenerState(mode: "socks5", address: "[::1]:1080"),
            ListenerState(mode: "transparent", address: "127.0.0.1:8081"),
        ]
        let lines = ["http://127.0.0.1:8443/", "127.0.0.1:5432", "socks5h://[::1]:1080"]
        let rules = "sluice transparent --print --port 8081"
        model.proxy.listeners = [ListenerState(mode: "regular", address: "127.0.0.1:17800")] + others
        let all = FirstSteps(model).items.map(\.text)
        #expect(all.contains { $0.hasPrefix("curl --proxy 127.0.0.1:17800") })
        #expect(all.suffix(5) == (lines + [rules, Self.paths[0]])[...])
        model.proxy.address = "0.0.0.0:8443"
        model.proxy.listeners = others
        let steps = FirstSteps(model)
        #expect(steps.items.map(\.text) == lines + [rules, Self.paths[0]])
        #expect(steps.elsewhere.isEmpty && steps.phone.contains("--mode regular"))
        let page = steps.lines(width: 76).map(\.plain).joined(separator: "\n")
        for listener in others { #expect(page.contains("\(listener.mode): \(listener.address)"), "\(page)") }
        #expect(!page.contains("HTTP and HTTPS proxy"))
        #expect(ConsoleView.draw(model).text.contains("socks5h://[::1]:1080"))
    }

    @Test func `addresses are those that other machines reach`() {
        for local in ["127.0.0.1", "127.1.2.3", "::1", "fe80::1", "169.254.3.4", "0.0.0.0", "::"] {
            #expect(!LocalAddresses.isReachable(local), "\(local)")
        }
        for other in ["192.168.1.20", "10.0.0.1", "2001:db8::5", "fd00::7"] {
            #expect(LocalAddresses.isReachable(other), "\(other)")
        }
    }

    @Test func `the first failed handshake says what to do, in full, until a key is pressed`() {
        var model = ModelFixture.listing(ModelFixture.plain(1), Size(width: 80, height: 24))
        func failed(_ number: Int64, _ host: String) -> ExchangeRecord {
            ModelFixture.record(number, "CONNECT", "https://\(host)/", status: 0) {
                $0.kind = .failedHandshake
                $0.state = .failed
                $0.failure = ExchangeFailure(.clientTLS, "The client refused the certificate.")
                $0.startedAt = ModelFixture.now + 1
            }
        }
        // The row on the screen tells nothing; the session's news do, while the list has no such row.
        ModelFixture.answer(&model, ModelFixture.plain(1) + [failed(2, "localhost:17443")])
        #expect(!ConsoleView.draw(model).text.contains("client rejected"))
        ModelFixture.answer(&model, ModelFixture.plain(1))
        _ = model.update(.query(.untrusting([failed(2, "localhost:17443")])))
        let decrypt = model.way(to: .decrypt)
        for passed in [0, 60_000_000] as [Int64] {
            _ = model.update(.tick(ModelFixture.now + passed))
            let rows = (0..<24).map { ConsoleView.draw(model).row($0) }
            let text = rows.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
            #expect(
                text.contains("localhost:17443: the client rejected Sluice's certificate. Press ! for setup commands")
            )
            #expect(text.contains("then try again; \(decrypt) on a refused row retries decryption."))
        }
        _ = model.update(.said("Something else.", .info))
        #expect(ConsoleView.draw(model).text.contains("client rejected"))
        model.press("down")
        #expect(!ConsoleView.draw(model).text.contains("client rejected"))
        let count = model.notices.count
        _ = model.update(.query(.untrusting([failed(2, "localhost:17443"), failed(3, "localhost:17443")])))
        #expect(model.notices.count == count)
        _ = model.update(.query(.untrusting([failed(3, "localhost:17443"), failed(4, "other.example")])))
        #expect(ConsoleView.draw(model).text.contains("other.example: the client rejected"))
        #expect(model.notices.count == count + 1)
    }
}
