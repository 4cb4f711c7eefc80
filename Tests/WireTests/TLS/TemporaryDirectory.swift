import Foundation
import Support

/// A new directory under the system's temporary one.
struct TemporaryDirectory {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    @discardableResult
    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = "\(path)/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }

    func mode(_ name: String = "") throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: name.isEmpty ? path : "\(path)/\(name)")
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
}

/// Runs the `openssl` program; returns its exit status and everything it printed.
func openssl(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let outcome = try ChildProgram.run("openssl", arguments)
    return (outcome.status, outcome.text + String(decoding: outcome.errors, as: UTF8.self))
}
