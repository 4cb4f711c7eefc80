import Content
import Description
import Files
import Formats
import Foundation
import HTTPModel
import Masking
import NIOCore
import Recording

/// Exports exchanges as a bundle, which ``ArchiveFile`` opens again. If the source is masked, no part has a secret.
final class BundleExport: ExchangeExport {
    private static let exports: [(name: String, format: ExportFormat, about: String)] = [
        ("exchanges.har", .har, "the exchanges as HAR 1.2, which browsers' developer tools open"),
        ("page.html", .html, "the exchanges as one page for any browser, which needs no network"),
    ]

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
    private let destination: ExportDestination

    /// `source` is `reader` itself, or `reader` with its secrets masked.
    init(_ source: any ExchangeSource, of reader: SessionReader, to destination: ExportDestination) throws {
        self.reader = reader
        self.destination = destination
        masked = source as? MaskedSource
        directory = try TemporaryDirectory(.bundle)
        // The slice masks by its own source, so that the summary counts each masked place only once.
        let other = masked.map { MaskedSource($0.original, $0.mask) }
        slice = try SessionSlice("\(directory.path)/\(ArchiveFile.bundledSession)", of: reader, other)
        story = BundleStory(session: reader.path)
        (story.title, story.note) = (destination.title, destination.note)
        story.contents = [(ArchiveFile.bundledSession, "the exchanges as Sluice recorded them")]
        for (index, entry) in BundleExport.exports.enumerated() {
            let path = "\(directory.path)/\(entry.name)"
            let file = try OutputFile(path, isSecret: true)
            // The first export uses the given source, whose counts are in the summary.
            let own = index == 0 ? masked : masked.map { MaskedSource($0.original, $0.mask) }
            var place = ExportDestination(file, path: path)
            (place.title, place.note) = (destination.title, destination.note)
            let export = try entry.format.export(own ?? reader, of: reader, to: place)
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
        // The unmasked exchange: the slice and the further parts mask it themselves.
        guard let recorded = try masked.original.exchange(exchange.record.id) else { return }
        try slice.add(recorded)
        for index in parts.indices {
            // The first part uses the given source, which has already masked this exchange and counted its secrets.
            let own = index == 0 ? nil : parts[index].masked
            try parts[index].export.add(own?.masked(recorded) ?? exchange)
        }
    }

    func finish() throws {
        try destination.onPacking(0)
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
        // The first file of the zip explains the bundle.
        members.insert(members.removeLast(), at: 0)
        try destination.write(members, by: "\(directory.path)/bundle")
    }

    private func add(_ name: String) { members.append(ZipWriter.Member(name, file: "\(directory.path)/\(name)")) }

    private func write(_ text: String, to name: String) throws {
        _ = try directory.write(Data(text.utf8), to: name)
        add(name)
    }

    /// The rules that were in force for the exchanges; secrets are masked if the source is masked.
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
