import Files
import Foundation
import Jobs
import Sharing

/// Whether a file can be made in a folder, or in what is there of the way to it.
enum FolderProbe {
    /// The folder itself, or the nearest one above it that is there.
    static func existing(_ folder: String) -> String {
        var path = folder
        while path.count > 1, !FileManager.default.fileExists(atPath: path) {
            path = (path as NSString).deletingLastPathComponent
        }
        return path.isEmpty ? "/" : path
    }

    /// Why no file can be made there; `nil` where one can. It is made and removed, since modes alone do not tell: a file
    /// system may be read-only, and root passes modes.
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

    /// What makes a file or folder usable that is there and not open to the user: its mode where it is the user's own, else
    /// its owner. `nil` where it is not there.
    static func opening(_ path: String, isOwn: (UInt32) -> Bool = { $0 == geteuid() }) -> String? {
        guard let facts = FileFacts(path: path) else { return nil }
        let word = ShellWord.word(path)
        if isOwn(facts.owner) { return "chmod \(facts.isDirectory ? 700 : 600) \(word)" }
        return RootCommand.line("chown \(facts.isDirectory ? "-R " : "")\"$(id -u)\" \(word)")
    }
}

/// A variable that names the folder in which Sluice has its own (XDG Base Directory Specification).
struct FolderVariable {
    let name: String
    /// Where that is without the variable.
    let usual: String

    static let configuration = FolderVariable(name: "XDG_CONFIG_HOME", usual: HomeDirectory.path + "/.config")
    static let state = FolderVariable(name: "XDG_STATE_HOME", usual: HomeDirectory.path + "/.local/state")

    /// A command after which a folder can be written in place of one that cannot; `nil` where nothing can be written at
    /// all.
    ///
    /// A folder of Sluice that is there is opened to the user. Else the usual place is taken where the variable names
    /// another one, or a new folder for temporary files: of the one that is kept when the machine starts anew first.
    func mend(_ folder: String, environment: [String: String], temporary: [String]? = nil) -> String? {
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
