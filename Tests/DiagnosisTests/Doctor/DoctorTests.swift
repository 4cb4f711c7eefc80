import Formats
import Foundation
import NIOCore
import NIOPosix
import Support
import Testing
import Wire

@testable import Diagnosis
@testable import Jobs
@testable import Runner

@Suite("The doctor")
struct DoctorTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    // MARK: - What it prints

    @Test("Findings are lines below each other, with what fixes them, and a count")
    func lines() throws {
        let findings: [Finding] = [
            .ok("port", "127.0.0.1:8080 is free"), .note("clipboard", "there is none", fix: "apt-get install xclip"),
            .problem("sessions", "the disk is full", fix: nil),
        ]
        #expect(
            findings.lines == """
                ok       port       127.0.0.1:8080 is free
                note     clipboard  there is none
                                    fix: apt-get install xclip
                problem  sessions   the disk is full

                1 problem; 1 note.

                """
        )
        #expect(findings.hasProblems && !Array(findings.dropLast()).hasProblems)
        #expect([Finding.ok("clock", "now")].lines.hasSuffix("Nothing stops Sluice.\n"))
        let json = try findings.json().split(separator: "\n")
        #expect(json.count == 3)
        #expect(
            json[1] == #"{"about":"clipboard","fix":"apt-get install xclip","level":"note","text":"there is none"}"#
        )
        #expect(!json[2].contains("fix"))
    }

    // MARK: - The authority

    @Test("Without an authority that is said, and none is made")
    func noAuthority() {
        let (known, findings) = AuthorityCheck(directory: scratch.path("none")).look()
        #expect(known == nil && findings.map(\.level) == [.note])
        #expect(findings[0].text.contains("the first start will create it") && findings[0].fix == "sluice ca path")
        #expect(!scratch.exists("none"))
    }

    @Test("An authority is judged by its days, its mode and the certificate beside it")
    func authority() throws {
        let authority = try CertificateAuthority.open(directory: scratch.path)
        let (known, findings) = AuthorityCheck(directory: scratch.path).look()
        #expect(known?.digest.count == 64 && findings.map(\.level) == [.ok], "\(findings)")

        let end = Date(timeIntervalSince1970: Double(authority.notAfter))
        func level(_ now: Date) -> [Finding.Level] {
            AuthorityCheck(directory: scratch.path, now: now).look().1.map(\.level)
        }
        #expect(level(end - 29 * 86_400) == [.note], "near its end")
        #expect(level(end - 31 * 86_400) == [.ok])
        #expect(level(Date(timeIntervalSince1970: Double(authority.notBefore) - 60)) == [.problem], "not yet")

        let file = scratch.path(CertificateAuthority.fileName)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let readable = AuthorityCheck(directory: scratch.path).look().1
        #expect(readable.map(\.level) == [.ok, .note] && readable[1].fix == "chmod 600 \(ShellWord.word(file))")

        try scratch.write(CertificateAuthority.certificateFileName, "other")
        #expect(AuthorityCheck(directory: scratch.path).look().1.last?.text.contains("is not the authority's") == true)

        try scratch.write(CertificateAuthority.fileName, "no key at all")
        let broken = AuthorityCheck(directory: scratch.path).look()
        #expect(broken.0 == nil && broken.1.map(\.level) == [.problem])
        #expect(broken.1[0].fix?.hasPrefix("mv ") == true)
    }

    // MARK: - The port

    @Test("A port in use is a problem, and another one is named; a free one is none")
    func ports() async throws {
        let taken = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(taken.localAddress?.port)
        let busy = await PortCheck(host: "127.0.0.1", port: port).findings()
        #expect(busy.map(\.level) == [.problem] && busy[0].text == "127.0.0.1:\(port) is in use")
        #expect(busy[0].fix?.hasPrefix("sluice --listen 127.0.0.1:") == true)
        #expect(busy[0].fix != "sluice --listen 127.0.0.1:\(port)")
        try await taken.close().get()
        #expect(await PortCheck(host: "127.0.0.1", port: port).findings().map(\.level) == [.ok])
        let foreign = await PortCheck(host: "192.0.2.1", port: 8080).findings()
        #expect(foreign.map(\.text) == ["192.0.2.1 is not an address of this machine"])
    }

    // MARK: - The terminal

    private func terminal(_ environment: [String: String], _ size: (Int, Int)? = (100, 30)) -> [String: Finding] {
        let findings = TerminalCheck(environment: environment, size: size).findings()
        return Dictionary(findings.map { ($0.about, $0) }) { first, _ in first }
    }

    @Test("A terminal is judged by its description, its size, its locale and what copies")
    func terminals() throws {
        let good = terminal(["TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PATH": ""])
        #expect(good.values.allSatisfy { $0.level == .ok }, "\(good)")
        #expect(good["terminal"]?.text == "xterm-256color, 256 colours, mouse")
        #expect(good["size"]?.text == "100 × 30")

        #expect(terminal(["TERM": "dumb"])["terminal"]?.text.contains("plain lines") == true)
        #expect(terminal([:])["terminal"]?.text.contains("not set") == true)
        #expect(terminal(["TERM": "no-such-terminal"])["terminal"]?.text.contains("knows no terminal") == true)
        #expect(terminal(["TERM": "../../etc/passwd"])["terminal"]?.level == .note)
        #expect(terminal(["TERM": "vt100"])["terminal"]?.text.contains("no colours, no mouse") == true)
        #expect(terminal(["TERM": "xterm", "NO_COLOR": "1"])["terminal"]?.fix == "unset NO_COLOR")
        #expect(terminal(["LC_ALL": "C"])["locale"]?.fix == "export LC_ALL=C.UTF-8")
        #expect(terminal(["LC_ALL": "xx_YY"])["locale"]?.text.contains("is not on this machine") == true)
        #expect(terminal([:], (79, 24))["size"]?.level == .note)
        #expect(terminal([:], nil)["size"]?.fix == "sluice run")
        let bare = terminal(["DISPLAY": ":0", "PATH": ""])["clipboard"]
        #expect(bare?.fix == RootCommand.line("apt-get install xclip"))
        #expect(bare?.text.hasPrefix("neither xclip nor xsel is there; ") == true)
        let wayland = terminal(["WAYLAND_DISPLAY": "w", "PATH": ""])["clipboard"]
        #expect(wayland?.text.hasPrefix("wl-copy is not there; ") == true)
        #expect(terminal(["DISPLAY": ":0", "SSH_TTY": "x", "PATH": ""])["clipboard"]?.level == .ok)
        #expect(terminal(["TMUX": "x", "PATH": ""])["clipboard"]?.fix == "tmux set -g set-clipboard on")
        let scratch = try Scratch()
        let tmux = try scratch.write("tmux", "#!/bin/sh\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tmux)
        let inside = terminal(["TMUX": "x", "DISPLAY": ":0", "PATH": scratch.path])["clipboard"]
        #expect(inside?.level == .ok && inside?.text.hasPrefix("by tmux") == true)
    }

    // MARK: - The environment and the disk

    @Test("Proxies of the environment are named without their passwords, and exceptions too")
    func proxies() {
        func look(_ environment: [String: String]) -> [Finding] {
            ProxyVariableCheck(environment: environment, host: "127.0.0.1", port: 8080).findings()
        }
        #expect(look([:]) == [.ok("proxies", "the environment names none")])
        let named = look(["http_proxy": "http://ada:secret@127.0.0.1:3128", "no_proxy": "localhost"])
        #expect(named.map(\.level) == [.note, .note])
        #expect(named[0].fix == "sluice --upstream-proxy env" && named[1].fix == "unset no_proxy")
        #expect(!named[0].text.contains("secret"), "\(named[0].text)")
        #expect(look(["https_proxy": "nonsense://x"]).map(\.fix) == ["unset https_proxy"])
        // 'env' would be refused.
        let own = look(["http_proxy": "http://localhost:8080", "https_proxy": "http://127.0.0.1:3128"])
        #expect(own.map(\.fix) == ["unset http_proxy"] && own[0].text.contains("this Sluice itself"), "\(own)")
    }

    @Test("A disk on which no session can be begun is a problem; one that is nearly full is a note")
    func disk() {
        func finding(_ free: Int64) -> Finding { SystemCheck.finding("sessions", "/s", free: free) }
        #expect(finding(0).level == .problem && finding(499_999).level == .problem)
        #expect(finding(1_900_000).level == .note && finding(1_900_000).fix == "sluice run --max-session 1mb")
        #expect(finding(49_000_000).fix == "sluice run --max-session 24mb")
        #expect(finding(900_000_000).level == .note && finding(2_000_000_000).level == .ok)
        #expect(finding(900_000_000).fix == "sluice run --max-session 100mb")
        #expect(FolderProbe.refusal(scratch.path("not/yet/there")) == nil)
        #expect(FolderProbe.refusal("/proc/none") != nil)
        #expect(FolderProbe.existing(scratch.path("not/yet/there")) == scratch.path)
    }

    @Test("Few descriptors are a note as long as Sluice starts, and a limit that only root can raise is called one")
    func descriptors() {
        let few = SystemCheck.finding(open: 200, most: 20_000)
        #expect(few.level == .note && few.fix == "ulimit -n 20000")
        #expect(SystemCheck.finding(open: 200, most: .max).fix == "ulimit -n 65536")
        let hard = SystemCheck.finding(open: 50, most: 50)
        #expect(hard.level == .note && hard.text.contains("50 at most") && hard.fix?.hasPrefix("ulimit") == false)
        #expect(SystemCheck.finding(open: 16, most: 20_000).level == .problem)
        #expect(SystemCheck.finding(open: 1_024, most: 1_024).level == .ok)
    }

    // MARK: - What fixes it

    @Test("For root no command begins with sudo")
    func root() {
        #expect(RootCommand.line(["a b", "c"], isRoot: true) == "a b && c")
        #expect(RootCommand.line(["a b", "c"], isRoot: false) == "sudo a b && sudo c")
        #expect(TrustCommands(file: "f", isRoot: true).debian.hasPrefix("cp f "))
        #expect(TrustCommands(file: "f", isRoot: false).javaItself.hasPrefix("sudo keytool "))
    }

    @Test("A file or folder of one's own is opened by its mode, one of another user by its owner")
    func opening() throws {
        let file = scratch.path("key file")
        try scratch.write("key file", "")
        #expect(FolderProbe.opening(file, isOwn: { _ in true }) == "chmod 600 '\(file)'")
        #expect(FolderProbe.opening(scratch.path, isOwn: { _ in true }) == "chmod 700 \(scratch.path)")
        #expect(FolderProbe.opening(file, isOwn: { _ in false }) == RootCommand.line("chown \"$(id -u)\" '\(file)'"))
        #expect(FolderProbe.opening(scratch.path("none")) == nil)
    }

    @Test("In place of a folder that cannot be written one is named that can")
    func folders() throws {
        try scratch.makeDirectory("home")
        try scratch.makeDirectory("for others")
        let places = ["/proc", scratch.path("none"), scratch.path("for others"), scratch.path]
        func fix(_ usual: String, _ environment: [String: String], _ folder: String = "/proc/none/sluice") -> String? {
            FolderVariable(name: "XDG_CONFIG_HOME", usual: usual)
                .fix(folder, environment: environment, temporary: places)
        }
        let other = "export XDG_CONFIG_HOME=\"$(mktemp -d '\(scratch.path)/for others/sluice.XXXXXX')\""
        #expect(fix("/proc/none", [:]) == other, "what is usual cannot be written")
        #expect(fix("/proc/none", ["XDG_CONFIG_HOME": "/proc/none"]) == other)
        #expect(fix(scratch.path("home/.config"), ["XDG_CONFIG_HOME": "/proc/none"]) == "unset XDG_CONFIG_HOME")
        let lost = FolderVariable(name: "X", usual: "/proc/none")
        #expect(lost.fix("/proc/x", environment: [:], temporary: ["/proc"]) == nil)
    }

    @Test("Without a folder for temporary files that is a problem, whether there is an authority or not")
    func temporary() {
        let finding = Doctor.temporary(StartError("No directory can be made in /nonexistent: none.", hint: "Set it."))
        #expect(finding.level == .problem && finding.fix == "export TMPDIR=/tmp")
    }

    // MARK: - Who trusts it

    @Test("Certificates are read from what certutil prints, whatever their names are")
    func databases() throws {
        let list = """

            Certificate Nickname                                         Trust Attributes
                                                                         SSL,S/MIME,JAR/XPI

            sluice                                                       C,,
            A name, with blanks                                          CT,C,c
            none
            """
        let found = DatabaseCheck.certificates(in: list)
        #expect(found.map(\.name) == ["sluice", "A name, with blanks"] && found.map(\.flags) == ["C,,", "CT,C,c"])
        try scratch.makeDirectory(".mozilla/firefox/one.default")
        try scratch.makeDirectory(".pki/nssdb")
        try scratch.write(".mozilla/firefox/one.default/cert9.db", "")
        #expect(DatabaseCheck.databases(home: scratch.path).map(\.name) == ["Firefox"])
        try scratch.write(".pki/nssdb/cert9.db", "")
        #expect(DatabaseCheck.databases(home: scratch.path).map(\.name) == ["Chromium", "Firefox"])
    }

    @Test("A program that is asked and does not answer is ended")
    func late() async throws {
        let environment = ProcessInfo.processInfo.environment
        let probe = try ProbeCommand(environment: environment, patience: .milliseconds(100))
        defer { probe.remove() }
        #expect(await probe.ask(["sh", "-c", "echo $WORD"], variables: ["WORD": "hello"]) != .failed(127))
        #expect(await probe.ask(["sleep", "60"]) == .late)
        #expect(await probe.ask(["sh", "-c", "exit 7"]) != .text(""))
        #expect(await probe.ask(["no-such-program-at-all"]) == .failed(127))
    }

    @Test("A variable that leaves no authority but Sluice's own is a problem, since Sluice reads it for servers")
    func ownAuthorityAlone() throws {
        _ = try CertificateAuthority.open(directory: scratch.path)
        let known = try #require(AuthorityCheck(directory: scratch.path).look().0)
        func look(_ environment: [String: String], _ known: KnownAuthority?) -> [Finding] {
            StoreCheck(known: known, environment: environment).findings()
        }
        let own = look(["SSL_CERT_FILE": known.file], known)
        #expect(own.map(\.level) == [.problem] && own[0].fix == "unset SSL_CERT_FILE", "\(own)")
        #expect(own[0].text.contains("Sluice would trust no server"))
        let lost = look(["SSL_CERT_FILE": "/nonexistent", "SSL_CERT_DIR": "/nonexistent"], nil)
        #expect(lost.map(\.fix) == ["unset SSL_CERT_FILE SSL_CERT_DIR"], "\(lost)")

        // Beside another one it may be there.
        try scratch.makeDirectory("other")
        let other = try CertificateAuthority.open(directory: scratch.path("other"))
        try scratch.write("both.pem", try String(contentsOfFile: known.file, encoding: .utf8) + other.certificatePEM)
        #expect(look(["SSL_CERT_FILE": scratch.path("both.pem")], known).map(\.level) == [.ok])
        #expect(look(["SSL_CERT_FILE": scratch.path("both.pem")], nil).isEmpty)
    }

    @Test("The help on trust sets what Sluice reads for one command only")
    func trustHelp() {
        let commands = TrustHelp.lines(path: "/ca.pem").compactMap(\.command)
        #expect(commands.contains("SSL_CERT_FILE='/ca.pem' python3"))
        #expect(!commands.contains { $0.contains("export ") })
        #expect(TrustHelp.text(path: "/ca.pem").contains("Do not export SSL_CERT_FILE"))
    }

    @Test("A runtime that does not answer is not called one that does not trust")
    func silentRuntime() throws {
        _ = try CertificateAuthority.open(directory: scratch.path)
        let known = try #require(AuthorityCheck(directory: scratch.path).look().0)
        let probe = try ProbeCommand(environment: [:], patience: .seconds(2))
        defer { probe.remove() }
        let check = RuntimeCheck(known: known, probe: probe)
        for answer in [ProbeCommand.Answer.late, .failed(1)] {
            let finding = check.finding("Java", answer, isTrusted: false, fix: "keytool")
            #expect(finding.level == .note && finding.fix == nil, "\(finding)")
        }
        #expect(check.finding("Java", .text(""), isTrusted: false, fix: "keytool").fix == "keytool")
    }

    @Test("Runtimes are asked whether they know the authority")
    func runtimes() async throws {
        _ = try CertificateAuthority.open(directory: scratch.path)
        let known = try #require(AuthorityCheck(directory: scratch.path).look().0)
        func look(_ more: [String: String]) async throws -> [String: Finding] {
            let environment = ProcessInfo.processInfo.environment.merging(more) { $1 }
            let probe = try ProbeCommand(environment: environment, patience: .seconds(30))
            defer { probe.remove() }
            let findings = await RuntimeCheck(known: known, probe: probe).findings()
            return Dictionary(findings.map { ($0.about, $0) }) { first, _ in first }
        }
        let before = try await look(["SSL_CERT_FILE": "", "NODE_EXTRA_CA_CERTS": ""])
        for name in ["Python", "Node"] where before[name] != nil {
            #expect(before[name]?.level == .note && before[name]?.text == "does not trust the authority", "\(before)")
        }
        // Exported, it would be Sluice's own, too.
        #expect(before["Python"]?.fix == "SSL_CERT_FILE=\(ShellWord.word(known.file)) python3 …")
        let after = try await look(["SSL_CERT_FILE": known.file, "NODE_EXTRA_CA_CERTS": known.file])
        for name in ["Python", "Node"] where after[name] != nil {
            #expect(after[name] == .ok(name, "trusts the authority"), "\(after)")
        }
        #expect(before["Python"] != nil, "Python is on every machine that runs these tests")
    }
}
