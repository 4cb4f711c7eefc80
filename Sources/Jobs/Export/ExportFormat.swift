package import Content
package import Description
package import Files
package import Formats
import Foundation
import HTTPModel
import Masking
import NIOCore
package import Recording

/// The formats in which exchanges are exported, by `sluice export` and by the console.
package enum ExportFormat: String, CaseIterable, Sendable, Hashable {
    case curl, har, json, jsonl, html, bundle, httpie, fetch, python, csv, raw, openapi

    /// The name in lists, the file extension, and the description for help.
    private var facts: (title: String, fileExtension: String, summary: String) {
        switch self {
        case .curl:
            (
                "cURL script", "sh",
                "A script of cURL commands that send the same requests: method, target, fields in order, body; what no "
                    + "command line can carry lies in FILE.bodies beside it (beside the session without -o)."
            )
        case .har: ("HAR", "har", "HAR 1.2, which the developer tools of browsers open.")
        case .json: ("JSON", "json", "Everything that is known, as one document.")
        case .jsonl: ("JSON lines", "jsonl", "The same with a line for each exchange, for DuckDB, ClickHouse and jq.")
        case .html:
            (
                "page (HTML)", "html",
                "One page that any browser opens, without a network: waterfall, filter, details, what rules changed and why."
            )
        case .bundle:
            (
                "bundle (zip)", "zip",
                "A zip with the session's slice, HAR, page, the profile in force and the story in README.txt; 'sluice "
                    + "open' opens it."
            )
        case .httpie: ("HTTPie script", "sh", "As curl, with HTTPie's commands.")
        case .fetch:
            ("fetch, for Node", "mjs", "A program for Node that calls fetch, with its imports at the beginning.")
        case .python:
            ("Python's requests", "py", "A program for Python's requests, with its imports at the beginning.")
        case .csv: ("table (CSV)", "csv", "A table with a line for each exchange, in which nothing is a formula.")
        case .raw:
            (
                "raw messages (zip)", "zip",
                "A file for each request and response, as on the wire, for nc, parsers and diffs; with -o NAME.zip a zip."
            )
        case .openapi:
            (
                "description of the API (OpenAPI)", "json",
                "The API that was used, without a value of it: paths (/users/{userId}), parameters, and schemas that fit "
                    + "all that was seen."
            )
        }
    }

    package var title: String { facts.title }
    package var summary: String { facts.summary }
    package var fileExtension: String { facts.fileExtension }

    /// The first format with the extension of the file name: cURL for `.sh`, a bundle for `.zip`; of `.har.gz` and
    /// `.jsonl.zst` the format inside.
    package init?(fileName: String) {
        var name = fileName.lowercased()
        let compression = ExportFormat.compression(fileName: name)
        if compression != nil { name = String(name[..<(name.lastIndex(of: ".") ?? name.endIndex)]) }
        guard let format = Self.allCases.first(where: { name.hasSuffix("." + $0.fileExtension) }) else { return nil }
        guard compression == nil || !format.isZip else { return nil }
        self = format
    }

    /// The compression that the file name asks for.
    package static func compression(fileName: String) -> ContentCoding? {
        let name = fileName.lowercased()
        return name.hasSuffix(".gz") ? .gzip : name.hasSuffix(".zst") ? .zstd : nil
    }

    /// Whether it has a place for a title and a note.
    package var takesNote: Bool { self == .html || self == .bundle }

    /// Whether it is compressed already.
    package var isZip: Bool { self == .bundle || self == .raw }

    /// Whether the length of bodies can be limited.
    package var limitsBodies: Bool { self == .json || self == .jsonl || self == .har }

    /// The writer of this format; `source` is `reader` itself, or `reader` with its secrets masked.
    package func export(
        _ source: any ExchangeSource,
        of reader: SessionReader,
        to destination: ExportDestination
    ) throws -> any ExchangeExport {
        let sink = destination.sink
        switch self {
        case .curl:
            return CurlExport(source: source, form: destination.script, files: destination.bodies, sink: sink)
        case .har, .json, .jsonl:
            var options = EntryOptions()
            options.creatorVersion = SluiceVersion.current
            options.lines = self == .jsonl
            options.bodyLimit = destination.bodyLimit
            return self == .har
                ? HARExport(source: source, options: options, sink: sink)
                : JSONExport(source: source, options: options, sink: sink)
        case .html:
            var facts = SessionFacts(reader, masked: source as? MaskedSource)
            (facts.title, facts.note) = (destination.title, destination.note)
            return PageExport(source: source, facts: facts, sink: sink)
        case .bundle: return try BundleExport(source, of: reader, to: destination)
        case .httpie: return ProgramExport(.httpie, source: source, files: destination.bodies, sink: sink)
        case .fetch: return ProgramExport(.fetch, source: source, files: destination.bodies, sink: sink)
        case .python: return ProgramExport(.python, source: source, files: destination.bodies, sink: sink)
        case .csv: return CSVExport(source: source, sink: sink)
        case .raw: return try RawExport(source, of: reader, to: destination)
        case .openapi: return OpenAPIExport(source: source, version: SluiceVersion.current, sink: sink)
        }
    }
}

package struct ExportDestination {
    private let file: OutputFile
    package private(set) var sink: ExportSink
    /// For bodies that no command line can carry.
    package let bodies: any BodyFiles
    package let script: CurlExport.Form
    /// The directory for the files of raw messages; `nil` writes a zip.
    package var directory: OutputDirectory?
    /// Whether the bodies of raw messages are also written as separate files.
    package var wantsBodies = false
    /// How many bytes of each body HAR and JSON have; `nil` for all.
    package var bodyLimit: Int?
    /// The title of a page or a bundle.
    package var title: String?
    package var note: String?
    /// Called often while a zip is packed, with the part that is done (0 to 1). Errors that it throws end the export.
    package var onPacking: (Double) throws -> Void = { _ in }

    package init(_ file: OutputFile, bodies: any BodyFiles, script: CurlExport.Form = .scriptFile) {
        (self.file, sink, self.bodies, self.script) = (file, file.write, bodies, script)
    }

    /// Calls `say` once, when more than `limit` bytes are written.
    package mutating func onGrowth(beyond limit: Int, _ say: @escaping () -> Void) {
        let (file, write) = (file, sink)
        var hasSaid = false
        sink = { bytes in
            try write(bytes)
            if !hasSaid, file.count > limit {
                hasSaid = true
                say()
            }
        }
    }

    /// Zips files into `path`, which must not exist, and writes the zip into the sink.
    func write(_ members: [ZipWriter.Member], by path: String) throws {
        var path = path
        try ZipWriter.write(members, to: path, onProgress: onPacking)
        // A member whose compression would look like a zip bomb is stored, so that it can be opened.
        let safe = try ZipWriter.storingTraps(members, in: path)
        if safe != members {
            path += "-stored"
            try ZipWriter.write(safe, to: path, onProgress: onPacking)
        }
        let file = FileHandle(fileDescriptor: try InputFile.descriptor(of: path), closeOnDealloc: true)
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
            try onPacking(1)
            try sink(ByteBuffer(bytes: piece))
        }
    }

    /// A file, compressed if its name says so. The bodies of its commands are in a directory beside it, named relative to the file.
    package init(_ file: OutputFile, path: String) {
        let bodies = path + ".bodies"
        let name = bodies.split(separator: "/").last.map { String($0) }
        self.init(file, bodies: BodyDirectory(path: bodies, referredToAs: name))
        if let coding = ExportFormat.compression(fileName: path), let encoder = StreamEncoder(coding) {
            file.coder = encoder.encode(_:isLast:)
        }
    }
}
