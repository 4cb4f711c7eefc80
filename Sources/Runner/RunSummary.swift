import Description
import Foundation
import Jobs
package import Recording
import Store
import Text

package enum RunSummary {
    package static func text(_ summary: RecorderSummary) -> String {
        let bytes = Measures.size(summary.bodyBytes)
        var text = "sluice: \(summary.exchanges.of("exchange")), \(summary.failures) failed, \(bytes) of bodies\n"
        if summary.passed > 0 { text += "sluice: \(passed(summary.passed)) while recording was off\n" }
        if summary.leftOut > 0 { text += "sluice: \(passed(summary.leftOut)) unrecorded ('record' in the profile)\n" }
        if summary.droppedBytes > 0 {
            text += "sluice: \(Measures.size(summary.droppedBytes)) of bodies were dropped (--recorder lossy)\n"
        }
        if summary.droppedBodies > 0 || summary.removedExchanges > 0 {
            let count = summary.droppedBodies
            let bodies = count == 1 ? "1 exchange lost its bodies" : "\(count) exchanges lost their bodies"
            let removed = summary.removedExchanges > 0 ? ", \(summary.removedExchanges) of the oldest were removed" : ""
            text += "sluice: \(bodies)\(removed) (--max-session)\n"
        }
        if let error = summary.error {
            text += "sluice: NOT recorded: \(summary.notRecorded.of("exchange")): \(error)\n"
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
                : "sluice: the session \(path) was removed while it was recorded\n"
        }
        return text
    }

    static func text(_ status: Shipper.Status, _ store: String) -> String {
        var text = "sluice: \(status.stored.of("exchange")) stored in \(store)\n"
        if status.waiting > 0 {
            let verb = status.waiting == 1 ? "waits" : "wait"
            text += "sluice: \(status.waiting.of("exchange")) \(verb) in the session; "
            text += "the next run on it sends them, and so does 'sluice store import'\n"
            if let error = status.error { text += "sluice: the store's last error: \(error)\n" }
        }
        if status.lost > 0 {
            let lost = status.lost.of("exchange")
            text += "sluice: \(lost) NOT stored: the session had to remove them before (--max-session)\n"
        }
        return text
    }

    /// For a run without a command and without exchanges.
    package static func unused(_ summary: RecorderSummary) -> String? {
        guard summary.isUnused else { return nil }
        return "sluice: nothing used the proxy; 'sluice guide first-steps' explains how to set up clients\n"
    }

    package static func masked(places: Int, exchanges: Int) -> String? {
        guard places > 0 else { return nil }
        return "sluice: Secrets are masked in \(places.of("place")) of \(exchanges.of("line")); --secrets keeps them.\n"
    }

    fileprivate static func names(_ paths: [String]) -> String {
        let most = 3
        let rest = paths.count > most ? " and \(paths.count - most) more" : ""
        return paths.prefix(most).joined(separator: ", ") + rest
    }

    private static func passed(_ count: Int) -> String { "\(count.of("exchange")) passed" }
}

extension RecorderRemark {
    var text: String {
        switch self {
        case .rotated(let old, let new): "recording to \(new); earlier exchanges are in \(old)"
        case .cannotRotate(let path, let error):
            "still recording to \(path), since the next file failed: \(error)"
        case .removed(let paths): "removed \(RunSummary.names(paths)) (--keep)"
        case .dropping(let path, let largest):
            "\(path) has reached \(Measures.size(largest)); the bodies of its oldest exchanges are dropped"
        }
    }
}

extension RecorderSummary {
    package var hasProblem: Bool { error != nil || removingError != nil || droppedBytes > 0 }

    package var isUnused: Bool { exchanges + passed + leftOut == 0 }
}
