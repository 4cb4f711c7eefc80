package import Recording
import Sharing

/// What a run came to, in words.
package enum RunSummary {
    /// The text that is printed when Sluice stops.
    package static func text(_ summary: RecorderSummary) -> String {
        var text =
            "sluice: \(summary.exchanges) exchange\(summary.exchanges == 1 ? "" : "s"), \(summary.failures) failed, \(Measures.size(summary.bodyBytes)) of bodies\n"
        if summary.droppedBytes > 0 {
            text +=
                "sluice: \(Measures.size(summary.droppedBytes)) of bodies were dropped, as --recorder lossy allows\n"
        }
        if let error = summary.error {
            let count = summary.notRecorded
            text += "sluice: \(count) exchange\(count == 1 ? " was" : "s were") NOT recorded: \(error)\n"
        }
        if summary.longestWrite > 100_000 {
            text += "sluice: the disk was slow: one write took \(summary.longestWrite / 1_000) ms\n"
        }
        if let path = summary.path { text += "sluice: session \(path)\n" }
        return text
    }
}
