import Description
import Foundation
import HTTPModel
import Masking
import Recording
import Text

/// The text of a bundle's `README.txt`.
struct BundleStory {
    private static let mostErrors = 10
    private static let mostHosts = 20
    private static let mostCountedHosts = 1_000
    private static let width = 100

    var contents: [(name: String, about: String)] = []
    var runs: [SessionRun] = []
    var title: String?
    var note: String?
    /// When the first and the last exchange began: microseconds since 1970.
    private(set) var moments: ClosedRange<Int64>?
    private let session: String
    private var count = 0
    private var errorCount = 0
    private var errors: [String] = []
    private var hosts: [String: Int] = [:]

    init(session: String) { self.session = (session as NSString).lastPathComponent }

    mutating func add(_ exchange: RecordedExchange) {
        let record = exchange.record
        count += 1
        let at = record.startedAt
        moments = moments.map { min($0.lowerBound, at)...max($0.upperBound, at) } ?? at...at
        let host = record.url.host
        if hosts[host] != nil || hosts.count < BundleStory.mostCountedHosts { hosts[host, default: 0] += 1 }
        guard record.isError else { return }
        errorCount += 1
        guard errors.count < BundleStory.mostErrors else { return }
        errors.append(
            "\(record.id)  \(BundleStory.cut("\(record.method) \(record.url)"))\n      \(BundleStory.reason(of: exchange))"
        )
    }

    private static func reason(of exchange: RecordedExchange) -> String {
        let record = exchange.record
        if let failure = record.failure { return cut("\(failure.code.rawValue): \(failure.message)") }
        if let grpc = record.grpc, grpc.status > 0 {
            return cut("gRPC \(grpc.name ?? String(grpc.status)) \(grpc.message)")
        }
        return cut("status \(record.status)\(Answerer(exchange)?.addition ?? "")")
    }

    /// On one line, without control characters.
    private static func cut(_ text: String) -> String {
        let shown = VisibleText.of(String(text.prefix(4 * width)))
        return shown.count > 2 * width ? shown.prefix(2 * width) + "…" : shown
    }

    func text(_ masked: MaskedSource?) -> String {
        var text = [title, note].compactMap { $0.map { "\(VisibleText.lines($0))\n\n" } }.joined()
        text += "A bundle of Sluice, an HTTP debugging proxy: what passed between clients and servers.\n\n"
        if let moments {
            let (first, last) = (Timestamp.iso8601(moments.lowerBound), Timestamp.iso8601(moments.upperBound))
            text += first == last ? "Recorded:   \(first)\n" : "Recorded:   \(first) to \(last)\n"
        }
        let versions = Set(runs.map(\.sluiceVersion)).sorted().joined(separator: ", ")
        if !versions.isEmpty { text += "By:         \(BundleStory.cut(BundleStory.named(versions)))\n" }
        text += "Session:    \(BundleStory.cut(session))\n"
        text += "Exchanges:  \(count)\n"
        text += "Errors:     \(errorCount)\n"
        let byCount = hosts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        for (index, host) in byCount.prefix(BundleStory.mostHosts).enumerated() {
            text += index == 0 ? "Hosts:      " : "            "
            text += "\(BundleStory.cut(host.key)) (\(host.value))\n"
        }
        if hosts.count > BundleStory.mostHosts {
            text += "            and \(hosts.count - BundleStory.mostHosts) more\n"
        }
        text += "\nWhat failed\n\n"
        text += errors.isEmpty ? "  Nothing.\n" : errors.map { "  \($0)\n" }.joined()
        if errorCount > errors.count { text += "  and \(errorCount - errors.count) more\n" }
        text += "\nSecrets\n\n\(BundleStory.secrets(masked))"
        text += "\nWhat is here\n\n"
        let longest = contents.map(\.name.count).max() ?? 0
        for (name, about) in contents { text += "  \(name.filled(to: longest))  \(about)\n" }
        text += """

            How to open it

              sluice open FILE.zip    the console on it; list, show, why and export take it, too
              page.html               unpack it, and open it in a browser

            """
        return text
    }

    private static func secrets(_ masked: MaskedSource?) -> String {
        guard let masked else {
            return "  Nothing is masked: passwords, tokens, cookies and keys are in it as they were recorded.\n"
        }
        guard let summary = SessionMask.summary(masked, keeping: "the session that it was made of has them.") else {
            return "  None were found, so nothing is masked.\n"
        }
        return """
              Passwords, tokens, cookies and keys are masked in all that is here, the profile too.
              \(summary.prefix(1).uppercased() + summary.dropFirst())
              Each is one word, such as sluice-token-1, the same one wherever it stood. Sizes and times are those recorded.

            """
    }

    /// The versions that wrote the bundle and recorded the session.
    static func versions(_ runs: [SessionRun]) -> String {
        var text = """
            bundle: sluice \(SluiceVersion.current)
            schema: \(SessionReader.schemaVersion)
            system: \(ProcessInfo.processInfo.operatingSystemVersionString), \(machine)

            """
        for run in runs.suffix(100) {
            text += "recorded: \(cut(named(run.sluiceVersion))), from \(Timestamp.iso8601(run.startedAt))"
            if let end = run.endedAt { text += " to \(Timestamp.iso8601(end))" }
            text += "\n"
        }
        return text
    }

    private static func named(_ version: String) -> String {
        version.hasPrefix("sluice") || version.isEmpty ? version : "sluice \(version)"
    }

    private static var machine: String {
        var facts = utsname()
        guard uname(&facts) == 0 else { return "unknown" }
        return withUnsafeBytes(of: &facts.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
