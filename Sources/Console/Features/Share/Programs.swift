import Content
import Foundation
import HTTPModel
import Jobs
import Runner
import Synchronization

enum BodyViewer {
    /// Runs the pager that `PAGER` names, else `less`, on a file, and waits for its end.
    static func page(_ path: String, environment: [String: String] = ProcessInfo.processInfo.environment) -> Message {
        let named = environment["PAGER"].flatMap { $0.isEmpty ? nil : $0 }
        let pager = named ?? (program("less", environment) == nil ? "more" : "less -R")
        do {
            // The shell splits off options; the path is not part of what it parses.
            let status = try TextEditor.spawn(["/bin/sh", "-c", "\(pager) \"$1\"", "sluice", path])
            guard status == 127 else { return .said("The body was shown with \(pager).") }
            return .said("The pager '\(pager)' cannot be run; set PAGER to another one.", .error)
        } catch {
            return .said("\(error)", .error)
        }
    }

    /// Has the system's viewer open a file, and does not wait for it.
    static func open(_ path: String, environment: [String: String] = ProcessInfo.processInfo.environment) -> Message {
        let elsewhere = "The body is in \(path) until the console ends"
        #if os(macOS)
        let viewer = program("open", environment)
        #else
        let hasDesktop = environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil
        let viewer = hasDesktop ? program("xdg-open", environment) : nil
        #endif
        guard let viewer else { return .said("\(elsewhere); no viewer was found.") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: viewer)
        process.arguments = [path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
            return .said("The body was opened with \(viewer).")
        } catch {
            return .said("\(elsewhere); \(viewer) cannot be run: \(error.localizedDescription)", .error)
        }
    }

    private static func program(_ name: String, _ environment: [String: String]) -> String? {
        (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    static func isText(_ type: String?) -> Bool {
        let essence = (type ?? "").prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
        let isBinary =
            ["image/", "audio/", "video/", "font/"].contains { essence.hasPrefix($0) && essence != "image/svg+xml" }
            || ["application/pdf", "application/zip", "application/octet-stream"].contains(essence)
        return !isBinary
    }

    static func fileExtension(_ type: String?, isText: Bool) -> String {
        type.flatMap { MediaType($0)?.fileExtension } ?? (isText ? "txt" : "bin")
    }
}

/// The files of bodies that are looked at, in a directory that only the user can enter and that goes with the console.
final class ViewedBodies: Sendable {
    private let directory = Mutex<TemporaryDirectory?>(nil)

    func path(_ id: ExchangeID, _ side: BodySide, _ ending: String) throws -> String {
        let folder = try directory.withLock { directory in
            if let directory { return directory.path }
            let new = try TemporaryDirectory("view")
            directory = new
            return new.path
        }
        let isRequest = side == .requestReceived || side == .requestSent
        return "\(folder)/\(id.number)-\(isRequest ? "request" : "response").\(ending)"
    }

    func remove() { directory.withLock { $0?.remove() } }
}

enum ExternalEditor {
    static func open(_ path: String) -> Message {
        do {
            guard let how = try TextEditor(path: path).edit() else { return .said("\(path) was edited.") }
            return .said("The editor \(how).", .error)
        } catch {
            return .said("\(error)", .error)
        }
    }

    static func edit(_ editor: EditorState) -> Message {
        do {
            let text = try edit(editor.area.text, for: editor.purpose)
            return .answer { $0.takeBack(editor, text) }
        } catch {
            return .said("\(error)", .error)
        }
    }

    /// Returns the new text; throws if the editor cannot be run or fails.
    private static func edit(_ text: String, for purpose: EditorState.Purpose) throws -> String {
        let name =
            switch purpose {
            case .rule: "rule.yaml"
            case .hold, .request, .newRequest: "message.http"
            }
        let editor = try TextEditor(text, name: name)
        defer { editor.remove() }
        switch try editor.run() {
        case .text(let text): return text
        case .failed(let how): throw ConsoleError("The editor \(how); the text is as before.")
        }
    }
}
