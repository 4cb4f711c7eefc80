package import Recording
import Sharing

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
        if let error = summary.error {
            let count = summary.notRecorded
            text += "sluice: \(count) exchange\(count == 1 ? " was" : "s were") NOT recorded: \(error)\n"
        }
        if let error = summary.removingError { text += "sluice: \(error)\n" }
        if summary.longestWrite > 100_000 {
            text += "sluice: the disk was slow: one write took \(summary.longestWrite / 1_000) ms\n"
        }
        if let path = summary.path { text += "sluice: session \(path)\n" }
        return text
    }

    private static func passed(_ count: Int) -> String { "\(count) exchange\(count == 1 ? "" : "s") passed" }
}
