package import Content
package import Description
import Files
import Formats
import Foundation
package import HTTPModel
import Masking
import NIOCore
package import Recording

/// Exports exchanges as a bundle: a zip with everything that one needs to look at them, which ``ArchiveFile`` opens again.
///
/// It is put together in a directory of our own, and then handed over in one go. Where the source is a masked one, no part
/// of it has a secret.
package struct BundleExport: ExchangeExport {
    /// The exports that are in a bundle, by their names in it, and what the story says of them.
    private static let exports: [(name: String, format: ExportFormat, about: String)] = [
        ("exchanges.har", .har, "the exchanges as HAR 1.2, which browsers' developer tools open"),
        ("page.html", .html, "the exchanges as one page for any browser, which needs no network"),
    ]

    private let source: any ExchangeSource
    private let reader: SessionReader
    private let sink: ExportSink
    private let onPacking: (Double) throws -> Void
    /// What the user calls it, and says of it.
    package var title: String?
    package var note: String?
    private var work: BundleWork?

    /// Prepares an export; `source` is `reader` itself, or the same without its secrets.
    ///
    /// - Parameter onPacking: as ``ExportDestination/onPacking``.
    package init(
        source: any ExchangeSource,
        of reader: SessionReader,
        sink: @escaping ExportSink,
        onPacking: @escaping (Double) throws -> Void = { _ in }
    ) {
        (self.source, self.reader, self.sink, self.onPacking) = (source, reader, sink, onPacking)
    }

    package mutating func add(_ exchange: RecordedExchange) throws { try begun().add(exchange) }

    package mutating func finish() throws { try begun().finish(sink, onPacking) }

    private mutating func begun() throws -> BundleWork {
        if let work { return work }
        let begun = try BundleWork(source, reader, BundleExport.exports, (title, note))
        work = begun
        return begun
    }
}

/// A bundle that is being put together, in a directory that goes with it.
private final class BundleWork {
    private struct Part {
        var name: String
        var file: OutputFile
        var export: any ExchangeExport
        var masked: MaskedSource?
    }

    private let directory: TemporaryDirectory
    private let reader: SessionReader
    private let masked: MaskedSource?
    private let slice: SessionSlice
    private var parts: [Part] = []
    private var story: BundleStory
    private var members: [ZipWriter.Member] = []

    init(
        _ source: any ExchangeSource,
        _ reader: SessionReader,
        _ exports: [(name: String, format: ExportFormat, about: String)],
        _ words: (title: String?, note: String?)
    ) throws {
        self.reader = reader
        masked = source as? MaskedSource
        directory = try TemporaryDirectory("bundle")
        // A part of its own for each reader, so that a place counts once.
        let other = masked.map { MaskedSource($0.original, $0.mask) }
        slice = try SessionSlice("\(directory.path)/\(ArchiveFile.bundledSession)", of: reader, other)
        story = BundleStory(session: reader.path)
        (story.title, story.note) = words
        story.contents = [(ArchiveFile.bundledSession, "the exchanges as Sluice recorded them")]
        for (index, entry) in exports.enumerated() {
            let path = "\(directory.path)/\(entry.name)"
            let file = try OutputFile(path, isSecret: true)
            // The first one reads the source that was given, whose counts the summary has.
            let own = index == 0 ? masked : masked.map { MaskedSource($0.original, $0.mask) }
            var destination = ExportDestination(file, path: path)
            (destination.title, destination.note) = words
            let export = entry.format.export(own ?? reader, of: reader, to: destination)
            parts.append(Part(name: entry.name, file: file, export: export, masked: own))
            story.contents.append((entry.name, entry.about))
        }
    }

    deinit { directory.remove() }

    func add(_ exchange: RecordedExchange) throws {
        story.add(exchange)
        guard let masked else {
            try slice.add(exchange)
            for index in parts.indices { try parts[index].export.add(exchange) }
            return
        }
        // As it was recorded: the slice and further parts mask what they read.
        guard let recorded = try masked.original.exchange(exchange.record.id) else { return }
        try slice.add(recorded)
        for index in parts.indices {
            // The first part has the source that was given, which has masked it already, and counted.
            let own = index == 0 ? nil : parts[index].masked
            try parts[index].export.add(own?.masked(recorded) ?? exchange)
        }
    }

    func finish(_ sink: ExportSink, _ onPacking: @escaping (Double) throws -> Void) throws {
        try onPacking(0)
        let rules = try rulesInForce()
        try slice.finish(rules)
        add(ArchiveFile.bundledSession)
        for index in parts.indices {
            try parts[index].export.finish()
            try parts[index].file.finish()
            add(parts[index].name)
        }
        try addProfiles(rules)
        story.runs = try reader.runs()
        try write(BundleStory.versions(story.runs), to: "versions")
        story.contents.append(("versions", "which Sluice and system wrote this, and which recorded it"))
        try write(story.text(masked), to: "README.txt")
        // Whoever unpacks it sees first what it is.
        members.insert(members.removeLast(), at: 0)
        try ZippedFiles.hand(members, by: "\(directory.path)/bundle", to: sink, onProgress: onPacking)
    }

    private func add(_ name: String) { members.append(ZipWriter.Member(name, file: "\(directory.path)/\(name)")) }

    private func write(_ text: String, to name: String) throws {
        _ = try directory.write(Data(text.utf8), to: name)
        add(name)
    }

    // MARK: - Profiles

    /// The rules that the exchanges went through, without their secrets where there is a mask.
    private func rulesInForce() throws -> [StoredRules] {
        guard let range = story.moments else { return [] }
        let all = try reader.rules()
        let first = all.lastIndex { $0.at <= range.lowerBound } ?? all.startIndex
        let sets = all[first...].filter { $0.at <= range.upperBound }
        guard let masked else { return Array(sets) }
        let mask = ProfileMask(masked, try SessionMask.rules(of: reader))
        return sets.map { set in
            var set = set
            set.sources = set.sources.map { mask.source($0) }
            return set
        }
    }

    private func addProfiles(_ rules: [StoredRules]) throws {
        var written: [ProfileSource] = []
        for source in rules.flatMap(\.sources) where !written.contains(source) {
            guard written.count < 1_000 else { break }
            written.append(source)
            let stem = String(
                (source.file as NSString).lastPathComponent.map { character in
                    character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character))
                        ? character : "_"
                }.prefix(60)
            )
            let file = "profile-\(written.count)"
            _ = try directory.write(Data(source.text.utf8), to: file)
            members.append(ZipWriter.Member("profile/\(written.count)-\(stem)", file: "\(directory.path)/\(file)"))
        }
        if !written.isEmpty { story.contents.append(("profile/", "the profile whose rules were in force")) }
    }
}
