import Rules

/// Makes a profile from Charles' settings.
package struct CharlesImport: Sendable {
    /// A directory that has moved.
    package struct PathChange: Sendable, Hashable {
        /// The directory in the settings, for example `C:\mocks` or `/Users/ada/mocks`.
        package var old: String
        /// The new directory; a relative path begins in the profile's directory.
        package var new: String

        package init(old: String, new: String) { (self.old, self.new) = (old, new) }

        /// Reads `OLD=NEW`; `nil` if there is no equals sign, or nothing before it or after it.
        package init?(_ argument: String) {
            guard let mark = argument.firstIndex(of: "="), mark > argument.startIndex else { return nil }
            old = String(argument[..<mark])
            new = String(argument[argument.index(after: mark)...])
            if new.isEmpty { return nil }
        }
    }

    /// A tool whose name is missing if a file has only this tool.
    package enum LoneTool: String, Sendable, CaseIterable {
        case noCaching = "no-caching"
        case blockCookies = "block-cookies"

        /// Charles' name for the tool.
        var title: String { self == .noCaching ? "No Caching" : "Block Cookies" }
    }

    /// In bytes; larger files are refused.
    package static var largestFile: Int { XMLElement.largestFile }

    package let text: String
    /// What became of each rule, then the settings that could not be read.
    package let report: FidelityReport
    /// Whether there is a rule in the profile.
    package var isUsable: Bool { report.keptCount + report.approximatedCount > 0 }

    /// Reads an export of one or several tools, or Charles' settings file, and makes a profile that can be loaded: a
    /// rule that profiles reject becomes a comment with the reason. `loneTool` is the tool of a lone
    /// `selectedHostsTool`, because the file does not name it. `source` is the name of the settings, for the profile's
    /// first line. Relative paths begin in the directory of `file`, the profile's future file. The first of `paths`
    /// that fits counts. Throws ``CharlesError`` if no profile can be made, for example from a file that is too large.
    package init(
        _ bytes: [UInt8],
        as loneTool: LoneTool? = nil,
        source: String,
        file: String = "profile.yaml",
        paths: [PathChange] = []
    ) throws(CharlesError) {
        var drafting = CharlesDrafting(loneTool: loneTool, paths: paths)
        try drafting.read(bytes)
        var draft = ProfileDraft()
        draft.sections = drafting.sections
        draft.preamble = [
            "Made by Sluice from Charles' settings \(source).",
            "",
            "Settings that work differently than in Charles are marked 'approximated', those that could not be imported",
            "'skipped'. Locations are matched against the URL as the client sent it, whatever other tools change.",
        ]
        draft.head = [Node.Member("version", .word("1")), Node.Member("name", .text("from Charles"))]
        let off = draft.sections.filter { !$0.isEnabled }.map { Node.text($0.key) }
        if !off.isEmpty { draft.head.append(Node.Member("off", .list(off))) }
        text = try draft.write(as: file)
        var report = draft.report()
        report.lines += drafting.unread.lines
        self.report = report
    }
}

/// Why a file is not Charles' settings.
package struct CharlesError: Error, Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    package var line = 1
    /// In characters, from 1.
    package var column = 1
    /// What is wrong, and what to do if that is known; without a full stop.
    package var message: String
    /// Whether the file is valid, but needs a further argument to be read.
    package var needsArgument = false

    /// Phrased to follow a file's name: `line:column: message`.
    package var description: String { "\(line):\(column): \(message)" }
}
