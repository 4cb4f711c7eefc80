import Files
import Formats
import Foundation
import Jobs

enum FolderProbe {
    /// The folder, or the nearest existing one above it.
    static func existing(_ folder: String) -> String {
        var path = folder
        while path.count > 1, !FileManager.default.fileExists(atPath: path) {
            path = (path as NSString).deletingLastPathComponent
        }
        return path.isEmpty ? "/" : path
    }

    /// Why no file can be created in the folder; `nil` if one can. A file is created and removed, because modes are not
    /// enough: a file system may be read-only, and root ignores modes.
    static func refusal(_ folder: String) -> String? {
        let place = existing(folder)
        var template = Array("\(place)/.sluice-doctor.XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else {
            return place == folder
                ? String(cString: strerror(errno)) : "\(place): \(String(cString: strerror(errno)))"
        }
        close(descriptor)
        unlink(template)
        return nil
    }

    /// A command that opens an existing file or folder to the user: `chmod` if the user owns it, otherwise `chown`.
    static func opening(_ path: String, isOwn: (UInt32) -> Bool = { $0 == geteuid() }) -> String? {
        guard let facts = FileFacts(path: path) else { return nil }
        let word = ShellWord.word(path)
        if isOwn(facts.owner) { return "chmod \(facts.isDirectory ? 700 : 600) \(word)" }
        return RootCommand.line("chown \(facts.isDirectory ? "-R " : "")\"$(id -u)\" \(word)")
    }
}

/// A variable that names a folder of Sluice (XDG Base Directory Specification).
struct FolderVariable {
    let name: String
    /// The folder if the variable is not set.
    let usual: String

    static let configuration = FolderVariable(name: "XDG_CONFIG_HOME", usual: HomeDirectory.path + "/.config")
    static let state = FolderVariable(name: "XDG_STATE_HOME", usual: HomeDirectory.path + "/.local/state")

    /// A command that makes a folder writable; `nil` if that is impossible.
    ///
    /// An existing folder of Sluice is opened to the user. Otherwise the usual folder is used, or a new folder for
    /// temporary files, preferably one that survives a restart.
    func fix(_ folder: String, environment: [String: String], temporary: [String]? = nil) -> String? {
        let place = FolderProbe.existing(folder)
        let isOurs = place == folder || "\(place)/sessions" == folder
        if isOurs, access(place, W_OK | X_OK) != 0, errno == EACCES { return FolderProbe.opening(place) }
        let isSet = environment[name]?.hasPrefix("/") == true
        if isSet, !folder.hasPrefix(usual + "/"), FolderProbe.refusal(usual) == nil { return "unset \(name)" }
        let places = temporary ?? ["/var/tmp", environment["TMPDIR"] ?? "", "/tmp"]
        let found = places.first { place in
            place.hasPrefix("/") && FolderProbe.existing(place) == place && FolderProbe.refusal(place) == nil
        }
        return found.map { "export \(name)=\"$(mktemp -d \(ShellWord.word($0 + "/sluice.XXXXXX")))\"" }
    }
}
