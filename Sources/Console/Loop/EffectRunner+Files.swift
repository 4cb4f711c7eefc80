import Content
import Files
import Foundation
import HTTPModel
import NIOCore
import Recording
import Runner
import Sharing

/// Names of files, and bodies in programs of the user's.
extension EffectRunner {
    /// The most names that are looked at in a directory.
    private static let mostNames = 20_000

    /// Reads the names in the directory of a path that is typed; a directory's name ends with `/`.
    func completeFile(_ path: String) {
        start(on: passes) { [inbox] in
            let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
            let last = path.dropFirst(directory == "./" && !path.hasPrefix("./") ? 0 : directory.count)
            let folder = HomeDirectory.expanding(directory)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let shown = names.prefix(Self.mostNames).filter { !$0.hasPrefix(".") || last.hasPrefix(".") }
            let fitting = shown.filter { $0.hasPrefix(last) }.sorted()
            let marked = fitting.map { name in
                var isDirectory: ObjCBool = false
                let isThere = FileManager.default.fileExists(atPath: folder + "/" + name, isDirectory: &isDirectory)
                return isThere && isDirectory.boolValue ? name + "/" : name
            }
            inbox.answer { $0.takeFiles(marked, for: path) }
        }
    }

    /// Writes something down for the next start; where that fails, it is told.
    func keep(_ write: @escaping @Sendable () throws -> Void) {
        start(on: passes) { [self] in
            do {
                try write()
            } catch {
                report(ConsoleError("The view is not kept for the next start: \(Self.words(error))"))
            }
        }
    }

    /// Writes a body, decoded, to a file of our own, to be opened by another program.
    func openBody(_ id: ExchangeID, _ side: BodySide) {
        onReader(passes) { [self] reader in
            let exchange = try reader.recorded(id)
            guard let size = try reader.bodySize(of: id, side: side), size > 0 else {
                throw ConsoleError("The \(side.isRequest ? "request" : "response") has no body to open.")
            }
            let media = exchange.messages.fields(of: side).first { $0.name.lowercased() == "content-type" }?.value
            let isText = BodyViewer.isText(media)
            let path = try viewed.path(id, side, BodyViewer.fileExtension(media, isText: isText))
            let file = try OutputFile(path, isSecret: true, waits: false)
            _ = try BodyExport.write(exchange, side: side, from: reader, raw: false, sink: file.write)
            try file.finish()
            inbox.answer { _ in [.terminal(.view(path, isText: isText))] }
        }
    }
}
