import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The user's own editor, on a file that only the user can read.
package struct TextEditor: Sendable {
    package enum Outcome: Sendable, Hashable {
        case text(String)
        /// It failed, by which users say that they do not want the text: with a status, or by a signal.
        case failed(String)
    }

    /// The file that was edited; it stays until it is removed.
    package let path: String

    /// Writes a text to a file of its own.
    ///
    /// - Parameters:
    ///   - text: what to edit.
    ///   - name: what the file's name begins with.
    /// - Throws: ``StartFailure`` where there can be no file.
    package init(_ text: String, name: String) throws(StartFailure) {
        var directory = NSTemporaryDirectory()
        while directory.count > 1, directory.last == "/" { directory.removeLast() }
        var template = Array("\(directory)/sluice-\(name)-XXXXXX.http".utf8CString)
        let descriptor = mkstemps(&template, 5)
        guard descriptor >= 0 else {
            throw StartFailure("No file can be made in \(directory): \(String(cString: strerror(errno))).")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data(text.utf8))
        } catch {
            unlink(path)
            throw StartFailure("\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    /// Runs the editor that `VISUAL` or `EDITOR` names, else `vi`, and waits for its end.
    ///
    /// - Throws: ``StartFailure`` where the editor cannot be run or leaves no text.
    package func run() throws(StartFailure) -> Outcome {
        try run(environment: ProcessInfo.processInfo.environment)
    }

    func run(environment: [String: String]) throws(StartFailure) -> Outcome {
        let named = [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !$0.isEmpty }
        let editor = named ?? "vi"
        // By way of the shell, since the variable may hold options; the path is no part of what the shell reads.
        let status = try TextEditor.spawn(["/bin/sh", "-c", "\(editor) \"$1\"", "sluice", path])
        if status == 127 {
            throw StartFailure("The editor '\(editor)' cannot be run.", hint: "Set VISUAL or EDITOR to one that can.")
        }
        guard status == 0 else {
            return .failed(status > 128 ? "was ended by signal \(status - 128)" : "ended with \(status)")
        }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw StartFailure("\(path) is not there any more.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw StartFailure("\(path) is not UTF-8 text.", hint: "Here a body can only be text.")
        }
        return .text(text)
    }

    package func remove() {
        unlink(path)
    }

    /// Runs a program on our terminal, in our process group, and waits for it.
    private static func spawn(_ arguments: [String]) throws(StartFailure) -> CInt {
        var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        argv.append(nil)
        defer { for argument in argv { free(argument) } }
        // An editor has its own meaning for Ctrl-C.
        let interrupt = signal(SIGINT, SIG_IGN)
        defer { signal(SIGINT, interrupt) }
        var process: pid_t = 0
        #if canImport(Darwin)
        let environment = _NSGetEnviron().pointee
        #else
        let environment = environ
        #endif
        let code = posix_spawn(&process, arguments[0], nil, nil, argv, environment)
        guard code == 0 else {
            throw StartFailure("\(arguments[0]) cannot be run: \(String(cString: strerror(code))).")
        }
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw StartFailure("The editor was lost sight of.") }
        }
        let isExit = status & 0x7F == 0
        return isExit ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }
}
