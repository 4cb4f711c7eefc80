import Rules
import Tools

extension CharlesSettings {
    /// A tool that an exported file does not name, if it is that tool alone.
    package enum LoneTool: String, Sendable, Hashable, CaseIterable {
        case noCaching = "no-caching"
        case blockCookies = "block-cookies"

        /// Charles' name for the tool.
        var title: String { self == .noCaching ? "No Caching" : "Block Cookies" }
    }

    /// In bytes; larger files are refused.
    package static var largestFile: Int { XMLElement.largestFile }

    /// The root elements of single tools' exports.
    private static let loneElements = Set(
        CharlesToolElement.all.map(\.name)
            + ["rewriteSet-array", "viewerMappings", "reverseProxies", "portForwarding", "autoSave"]
    )

    /// Reads an export of several tools or of one, or the settings file of the program; reports what is not known.
    /// `loneTool` is the tool of a lone `selectedHostsTool`, since Charles does not say.
    package static func read(
        _ bytes: [UInt8],
        as loneTool: LoneTool? = nil
    ) throws(CharlesError) -> (settings: CharlesSettings, unread: FidelityReport) {
        let root = try XMLElement.read(bytes, keeping: isKept)
        var reading = CharlesReading(as: loneTool)
        switch root.name {
        case "charles-export", "configuration":
            for entry in root["toolConfiguration"]?["configs"]?.children ?? [] {
                let tools = entry.children.filter { $0.name != "string" }
                for tool in tools { reading.readTool(tool, named: entry["string"]?.text.trimmed ?? tool.name) }
            }
            reading.readSections(root)
        case CharlesToolElement.selectedHosts where loneTool == nil:
            let problem = "this is No Caching, Block Cookies or Client Process; the file does not tell which"
            let message = "\(problem); say it with --as no-caching or --as block-cookies"
            throw CharlesError(line: root.line, message: message, needsArgument: true)
        case let name where loneElements.contains(name): reading.readTool(root, named: nil)
        default: throw refusal(root)
        }
        return (reading.settings, reading.report)
    }

    private static func refusal(_ root: XMLElement) -> CharlesError {
        let message =
            switch root.name {
            case "java", "object", "void":
                "this was written by Charles 3.2 or older; open it in a newer Charles and export the settings again"
            case "charles-session": "this is a recorded session, not settings"
            default: "<\(root.name.singleLine(upTo: 40))> is not an element of Charles' settings"
            }
        return CharlesError(line: root.line, message: message)
    }

    /// The sections that are read; of those with more than concerns Sluice, the elements that are read. Nothing else is
    /// kept: there are licence keys, certificates, passwords and tokens in these files.
    private static let sections: [String: Set<String>] = [
        "toolConfiguration": ["configs"],
        "throttlingConfiguration": [],
        "startupConfiguration": ["throttling"],
        "proxyConfiguration": ["decryptSSL", "sslLocations", "sslExcludeLocations"],
        "accessControlConfiguration": ["ipRanges"],
        "recordingConfiguration": ["recordHosts", "ignoreHosts"],
        "externalDNSResolverConfiguration": ["enabled"],
    ]

    private static func isKept(_ path: [String]) -> Bool {
        guard path.count > 1 else { return true }
        guard path[0] == "charles-export" || path[0] == "configuration" else { return loneElements.contains(path[0]) }
        guard let kept = sections[path[1]] else { return false }
        return path.count == 2 || kept.isEmpty || kept.contains(path[2])
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
    /// Whether the file is valid, but needs another argument to be read.
    package var needsArgument = false

    /// Follows a file's name: `line:column: message`.
    package var description: String { "\(line):\(column): \(message)" }
}
