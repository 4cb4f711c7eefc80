import Foundation
import Jobs
package import Recording
import Sharing
import Text

/// The text that is printed when Sluice stops.
package enum RunSummary {
    package static func text(_ summary: RecorderSummary) -> String {
        let exchanges = "\(summary.exchanges) exchange\(summary.exchanges == 1 ? "" : "s")"
        var text = "sluice: \(exchanges), \(summary.failures) failed, \(Measures.size(summary.bodyBytes)) of bodies\n"
        if summary.passed > 0 { text += "sluice: \(passed(summary.passed)) while recording was off\n" }
        if summary.leftOut > 0 {
            text += "sluice: \(passed(summary.leftOut)) unrecorded, as 'record' in the profile says\n"
        }
        if summary.droppedBytes > 0 {
            let size = Measures.size(summary.droppedBytes)
            text += "sluice: \(size) of bodies were dropped, as --recorder lossy allows\n"
        }
        if summary.droppedBodies > 0 || summary.removedExchanges > 0 {
            let count = summary.droppedBodies
            let bodies = count == 1 ? "1 exchange lost its bodies" : "\(count) exchanges lost their bodies"
            let removed = summary.removedExchanges > 0 ? ", \(summary.removedExchanges) of the oldest were removed" : ""
            text += "sluice: \(bodies)\(removed), as --max-session says\n"
        }
        if let error = summary.error {
            let count = summary.notRecorded
            text += "sluice: \(count) exchange\(count == 1 ? " was" : "s were") NOT recorded: \(error)\n"
        }
        if let error = summary.removingError { text += ErrorLine.text("\(error)") }
        if summary.longestWrite > 100_000 {
            text += "sluice: the disk was slow: one write took \(summary.longestWrite / 1_000) ms\n"
        }
        if let path = summary.path {
            let count = summary.earlierPaths.count
            let before = count == 0 ? "" : ", the last of \(count + 1) files"
            text +=
                FileManager.default.fileExists(atPath: path)
                ? "sluice: session \(path)\(before)\n"
                : "sluice: there is no session: \(path) was removed while it was recorded\n"
        }
        return text
    }

    /// What to say of a run without a command that had no exchange; `nil` for another.
    package static func unused(_ summary: RecorderSummary) -> String? {
        guard summary.isUnused else { return nil }
        return "sluice: nothing used the proxy; 'sluice guide first-steps' says how clients find it\n"
    }

    /// How much was masked in lines of JSON; `nil` for nothing.
    package static func masked(places: Int, exchanges: Int) -> String? {
        guard places > 0 else { return nil }
        let lines = exchanges == 1 ? "1 line" : "\(exchanges.grouped) lines"
        let secrets = places == 1 ? "Secrets are masked in 1 place" : "Secrets are masked in \(places.grouped) places"
        return "sluice: \(secrets) of \(lines); --secrets keeps them.\n"
    }

    /// Names of files, the first few of them.
    fileprivate static func names(_ paths: [String]) -> String {
        let most = 3
        let rest = paths.count > most ? " and \(paths.count - most) more" : ""
        return paths.prefix(most).joined(separator: ", ") + rest
    }

    private static func passed(_ count: Int) -> String { "\(count) exchange\(count == 1 ? "" : "s") passed" }
}

extension RecorderRemark {
    /// One sentence for the user.
    var text: String {
        switch self {
        case .rotated(let old, let new): "recording to \(new); \(old) has what began before"
        case .cannotRotate(let path, let error):
            "recording stays in \(path), and the next file is tried again: \(error)"
        case .removed(let paths): "removed \(RunSummary.names(paths)), as --keep says"
        case .dropping(let path, let largest):
            "\(path) has reached \(Measures.size(largest)): the bodies of its oldest exchanges are dropped from now on"
        }
    }
}

extension RecorderSummary {
    /// Whether something that should have been recorded was not.
    package var hasProblem: Bool { error != nil || removingError != nil || droppedBytes > 0 }

    /// Whether no exchange passed, recorded or not.
    package var isUnused: Bool { exchanges + passed + leftOut == 0 }
}
