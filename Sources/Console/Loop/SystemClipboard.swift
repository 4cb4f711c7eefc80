import Files
import Foundation
import NIOCore
import Sharing

/// Where copied text goes: a clipboard of the desktop, the terminal's own, or a file.
enum SystemClipboard {
    enum Way: Sendable, Equatable {
        case tool(String)
        case terminal
        /// With the reason.
        case file(String, String)
    }

    /// What the terminal can be handed, in bytes: base64 of more than that is dropped by many.
    static let longestForTerminal = 74_994 * 3 / 4

    static func copy(
        _ text: String,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> Way {
        let isRemote = environment["SSH_CONNECTION"] != nil || environment["SSH_TTY"] != nil
        if !isRemote {
            for tool in tools(environment) where run(tool, text, environment) { return .tool(tool[0]) }
        }
        // By default tmux drops the sequence of OSC 52 that a program writes, and with -w it writes its own.
        if environment["TMUX"] != nil, run(["tmux", "load-buffer", "-w", "-"], text, environment) {
            return .tool("tmux")
        }
        if text.utf8.count <= longestForTerminal, environment["SLUICE_CLIPBOARD"] != "file" { return .terminal }
        let path = NSTemporaryDirectory() + "sluice-copy-\(getuid()).txt"
        try ExportFile.write(text, to: path)
        let limit = Measures.size(Int64(longestForTerminal))
        let isLong = text.utf8.count > longestForTerminal
        let size = Measures.size(Int64(text.utf8.count))
        return .file(
            path,
            isLong ? "\(size) are more than the \(limit) that a terminal takes" : "no clipboard is at hand"
        )
    }

    /// The programs that fit the desktop.
    private static func tools(_ environment: [String: String]) -> [[String]] {
        #if os(macOS)
        return [["pbcopy"]]
        #else
        let wayland = [["wl-copy"]]
        let x11 = [["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]]
        return (environment["WAYLAND_DISPLAY"] == nil ? [] : wayland) + (environment["DISPLAY"] == nil ? [] : x11)
        #endif
    }

    private static func run(_ command: [String], _ text: String, _ environment: [String: String]) -> Bool {
        let paths = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(command[0])" }
        guard let path = paths.first(where: FileManager.default.isExecutableFile) else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = Array(command.dropFirst())
        process.environment = environment
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try input.fileHandleForWriting.close()
        } catch {
            return false
        }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
