import Content
import Foundation
import HTTPModel
import Jobs
import Runner
import Synchronization

enum BodyViewer {
    /// Runs the pager in `PAGER`, or `less` or `more` if it is not set, on a file, and waits until the pager ends.
    static func page(_ path: String, environment: [String: String] = ProcessInfo.processInfo.environment) -> Message {
        let named = environment["PAGER"].flatMap { $0.isEmpty ? nil : $0 }
        let pager = named ?? (SilentProgram.path("less", environment) == nil ? "more" : "less -R")
        do {
            // The shell splits the pager's options; the path is an argument, so that the shell does not parse it.
            let status = try TextEditor.spawn(["/bin/sh", "-c", "\(pager) \"$1\"", "sluice", path])
            guard status == 127 else { return .said("The body was shown with \(pager).") }
            return .said("The pager '\(pager)' cannot be run; set PAGER to another one.", .error)
        } catch {
            return .said("\(error)", .error)
        }
    }

    /// Opens a file in the system's viewer, and does not wait for the viewer.
    static func open(_ path: String, environment: [String: String] = ProcessInfo.processInfo.environment) -> Message {
        let elsewhere = "The body is in \(path) until the console ends"
        #if os(macOS)
        let viewer = SilentProgram.path("open", environment)
        #else
        let hasDesktop = environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil
        let viewer = hasDesktop ? SilentProgram.path("xdg-open", environment) : nil
        #endif
        guard let viewer else { return .said("\(elsewhere); no viewer was found.") }
        do {
            try SilentProgram.process(viewer, [path]).run()
            return .said("The body was opened with \(viewer).")
        } catch {
            return .said("\(elsewhere); \(viewer) cannot be run: \(error.localizedDescription)", .error)
        }
    }

    static func isText(_ type: String?) -> Bool {
        let essence = (type ?? "").prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
        if essence == "image/svg+xml" { return true }
        let binary = [
            "image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/octet-stream",
        ]
        return !binary.contains { $0.last == "/" ? essence.hasPrefix($0) : essence == $0 }
    }

    static func fileExtension(_ type: String?, isText: Bool) -> String {
        type.flatMap { MediaType($0)?.fileExtension } ?? (isText ? "txt" : "bin")
    }
}

/// A program that is found by its name in `PATH`, and runs without input and output.
enum SilentProgram {
    static func path(_ name: String, _ environment: [String: String]) -> String? {
        (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    static func process(_ path: String, _ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }
}

/// The files of viewed bodies, in a directory that only the user can enter and that is removed with the console.
final class ViewedBodies: Sendable {
    private let directory = Mutex<TemporaryDirectory?>(nil)

    func path(_ id: ExchangeID, _ side: BodySide, _ ending: String) throws -> String {
        let folder = try directory.withLock { directory in
            let open = try directory ?? TemporaryDirectory(.view)
            directory = open
            return open.path
        }
        return "\(folder)/\(id.number)-\(side.isRequest ? "request" : "response").\(ending)"
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
            let program = try TextEditor(editor.area.text, name: editor.isRule ? "rule.yaml" : "message.http")
            defer { program.remove() }
            switch try program.run() {
            case .text(let text): return .answer { $0.takeBack(editor, text) }
            case .failed(let how): return .said("The editor \(how); the text is as before.", .error)
            }
        } catch {
            return .said("\(error)", .error)
        }
    }
}
