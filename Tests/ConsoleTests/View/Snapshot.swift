import Foundation
import Testing

/// A text that is kept beside the tests and compared with.
enum Snapshot {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Snapshots")

    /// Compares with what is kept; what is not kept yet is recorded, and the test fails, so that somebody looks at it.
    static func check(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let file = folder.appending(path: "\(name).txt")
        guard let data = try? Data(contentsOf: file) else {
            try Data(text.utf8).write(to: file)
            Issue.record(
                "Snapshots/\(name).txt was recorded: look at it and run again.",
                sourceLocation: sourceLocation
            )
            return
        }
        let kept = String(decoding: data, as: UTF8.self)
        guard kept != text else { return }
        Issue.record("\(difference(kept, text, name))", sourceLocation: sourceLocation)
    }

    private static func difference(_ old: String, _ new: String, _ name: String) -> String {
        let old = old.split(separator: "\n", omittingEmptySubsequences: false)
        let new = new.split(separator: "\n", omittingEmptySubsequences: false)
        var lines = ["The screen is not that of Snapshots/\(name).txt (delete it to record this one):"]
        for index in 0..<max(old.count, new.count) {
            let before = index < old.count ? old[index] : nil
            let after = index < new.count ? new[index] : nil
            guard before != after else { continue }
            if let before { lines.append("\(index + 1) - \(before)") }
            if let after { lines.append("\(index + 1) + \(after)") }
        }
        return lines.joined(separator: "\n")
    }
}
