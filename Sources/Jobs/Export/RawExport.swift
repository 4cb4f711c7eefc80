package import Content
package import Description
package import Files
import Formats
package import HTTPModel
import NIOCore
package import Recording

/// Exports each message as a file (``RawMessage``), named by the exchange's number and nothing of the traffic:
/// `0007-request.http`, `0007-response.http`, and where a rule changed them `0007-request-sent.http` and
/// `0007-response-received.http`; `0007-interim.http` has interim responses. `index.csv` tells which exchange has which
/// number (``CSVExport``). The bodies alone, where they are wanted, are without their content coding:
/// `0007-response.body.json`.
package struct RawExport: ExchangeExport {
    /// Where the files go.
    package enum Place {
        case directory(OutputDirectory)
        /// A zip of them.
        case zip(ExportSink)
    }

    private let source: any ExchangeSource
    private let reader: SessionReader
    private let place: Place
    private let hasBodies: Bool
    private let mostFiles: Int
    private let onPacking: (Double) throws -> Void
    private var work: RawWork?

    /// Prepares an export; `source` is `reader` itself, or the same without its secrets.
    ///
    /// - Parameters:
    ///   - mostFiles: how many a zip has at the most, since all their names are in memory and readers of zips refuse more.
    ///   - onPacking: as ``ExportDestination/onPacking``.
    package init(
        source: any ExchangeSource,
        of reader: SessionReader,
        to place: Place,
        hasBodies: Bool = false,
        mostFiles: Int = ZipReader.mostEntries,
        onPacking: @escaping (Double) throws -> Void = { _ in }
    ) {
        (self.source, self.reader, self.place, self.hasBodies) = (source, reader, place, hasBodies)
        (self.mostFiles, self.onPacking) = (mostFiles, onPacking)
    }

    package mutating func add(_ exchange: RecordedExchange) throws { try begun().add(exchange) }

    package mutating func finish() throws { try begun().finish(place, onPacking) }

    package var remark: String? {
        guard let work else { return nil }
        let messages = work.messageCount == 1 ? "1 message is" : "\(work.messageCount) messages are"
        return "\(messages) in it, one in a file; index.csv tells whose they are"
    }

    private mutating func begun() throws -> RawWork {
        if let work { return work }
        // As many digits as the largest number has, so that names are in the order of numbers.
        let width = max(4, String(try reader.bounds()?.upperBound ?? 0).count)
        let begun = try RawWork(source, place, width: width, hasBodies: hasBodies, mostFiles: mostFiles)
        work = begun
        return begun
    }
}

/// The files of an export that are being written.
private final class RawWork {
    private let source: any ExchangeSource
    private let directory: OutputDirectory
    /// Where the files are until they are zipped.
    private let temporary: TemporaryDirectory?
    private let width: Int
    private let hasBodies: Bool
    private let mostFiles: Int
    private var index: CSVExport
    /// Of a zip, at most `mostFiles`.
    private var names = ["index.csv"]
    private(set) var messageCount = 0

    init(_ source: any ExchangeSource, _ place: RawExport.Place, width: Int, hasBodies: Bool, mostFiles: Int) throws {
        (self.source, self.width, self.hasBodies, self.mostFiles) = (source, width, hasBodies, mostFiles)
        switch place {
        case .directory(let directory): (self.directory, temporary) = (directory, nil)
        case .zip:
            let temporary = try TemporaryDirectory("raw")
            self.temporary = temporary
            directory = try OutputDirectory("\(temporary.path)/messages")
        }
        let file = try directory.file("index.csv")
        index = CSVExport(source: source) { try file.write($0) }
    }

    deinit { temporary?.remove() }

    func add(_ exchange: RecordedExchange) throws {
        let digits = String(exchange.record.id.number)
        let number = String(repeating: "0", count: max(0, width - digits.count)) + digits
        for part in RawMessage.Part.allCases {
            guard let message = try RawMessage(part, of: exchange, from: source) else { continue }
            try write("\(number)-\(part.name).http") { try message.write($0) }
            messageCount += 1
            if hasBodies, let side = part.side { try addBody(exchange, side, "\(number)-\(part.name)") }
        }
        // Now it is known which parts were masked.
        try index.add(exchange)
    }

    private func addBody(_ exchange: RecordedExchange, _ side: BodySide, _ name: String) throws {
        // Frames are no body.
        guard exchange.record.kind != .webSocket,
            try source.body(of: exchange.record.id, side: side, offset: 0, limit: 1).readableBytes > 0
        else { return }
        let type = exchange.messages.fields(of: side).value(of: .contentType).flatMap { MediaType($0) }
        let ending = type?.fileExtension ?? (type?.isTextual == true ? "txt" : "bin")
        try write("\(name).body.\(ending)") {
            _ = try BodyExport.write(exchange, side: side, from: source, raw: false, sink: $0)
        }
    }

    private func write(_ name: String, _ contents: (ExportSink) throws -> Void) throws {
        guard temporary == nil || names.count < mostFiles else {
            throw StartError(
                "The zip would have more than \(mostFiles) files, which its readers refuse.",
                hint:
                    "Choose fewer exchanges with a filter, or a directory (-o NAME without .zip), which may have any number."
            )
        }
        let file = try directory.file(name)
        try contents { try file.write($0) }
        if temporary != nil { names.append(name) }
    }

    func finish(_ place: RawExport.Place, _ onPacking: @escaping (Double) throws -> Void) throws {
        try index.finish()
        try directory.finish()
        guard case .zip(let sink) = place, let temporary else { return }
        let members = names.map { ZipWriter.Member($0, file: "\(temporary.path)/messages/\($0)") }
        try ZippedFiles.hand(members, by: "\(temporary.path)/zip", to: sink, onProgress: onPacking)
    }
}
