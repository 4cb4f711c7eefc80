import Foundation
package import Jobs

package struct TextEditor: Sendable {
    package enum Outcome: Sendable, Hashable {
        case text(String)
        /// The editor's exit status or signal. Users end the editor with an error to discard the text.
        case failed(String)
    }

    package let path: String

    package init(path: String) { self.path = path }

    /// Creates a file whose name begins with `name`, readable only by the user.
    package init(_ text: String, name: String) throws(StartError) {
        var directory = NSTemporaryDirectory()
        while directory.count > 1, directory.last == "/" { directory.removeLast() }
        var template = Array("\(directory)/sluice-\(name)-XXXXXX.http".utf8CString)
        let descriptor = mkstemps(&template, 5)
        guard descriptor >= 0 else {
            throw StartError("No file can be made in \(directory): \(String(cString: strerror(errno))).")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data(text.utf8))
        } catch {
            unlink(path)
            throw StartError("\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    /// Runs the editor of `VISUAL` or `EDITOR`, or `vi`, to its end. Throws if it cannot be run or leaves no text.
    package func run(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(StartError) -> Outcome {
        if let how = try edit(environment: environment) { return .failed(how) }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw StartError("\(path) no longer exists.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw StartError("\(path) is not UTF-8 text.", hint: "A body must be text here.")
        }
        return .text(text)
    }

    /// Runs the editor without reading the file; returns how the editor failed, or `nil`.
    package func edit(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(StartError) -> String? {
        let editor = ["VISUAL", "EDITOR"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? "vi"
        // The shell separates the editor's name from its options; the path is passed as an argument.
        let status = try TextEditor.spawn(["/bin/sh", "-c", "\(editor) \"$1\"", "sluice", path])
        if status == 127 {
            throw StartError("The editor '\(editor)' cannot be run.", hint: "Set VISUAL or EDITOR to one that can.")
        }
        guard status != 0 else { return nil }
        return status > 128 ? "was ended by signal \(status - 128)" : "ended with \(status)"
    }

    package func remove() { unlink(path) }

    /// Runs a program on our terminal, in our process group; returns the exit code.
    package static func spawn(_ arguments: [String]) throws(StartError) -> CInt {
        // Editors and pagers have their own meaning for Ctrl-C.
        let interrupt = signal(SIGINT, SIG_IGN)
        defer { signal(SIGINT, interrupt) }
        let variables = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        let (process, code) = ChildProcess.spawn(arguments[0], arguments, variables)
        guard code == 0 else { throw StartError("\(arguments[0]) cannot be run: \(String(cString: strerror(code))).") }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else {
                throw StartError("\(arguments[0]) cannot be waited for: \(String(cString: strerror(errno))).")
            }
        }
        return ChildProcess.exitCode(status)
    }
}
