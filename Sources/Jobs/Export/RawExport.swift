import Content
import Description
import Files
import Formats
import HTTPModel
import NIOCore
import Recording

/// Exports each message as a file (``RawMessage``). File names have only the exchange's number, nothing from the
/// traffic: `0007-request.http`, `0007-response.http`, `0007-interim.http` for interim responses. If a rule changed a
/// message: `0007-request-sent.http`, `0007-response-received.http`. `index.csv` lists the exchange of each number
/// (``CSVExport``). Wanted bodies are written decoded: `0007-response.body.json`.
final class RawExport: ExchangeExport {
    private let source: any ExchangeSource
    private let directory: OutputDirectory
    /// Contains the files until they are zipped; `nil` if the destination has a directory.
    private let temporary: TemporaryDirectory?
    private let destination: ExportDestination
    private let width: Int
    private let mostFiles: Int
    private var index: CSVExport
    private var names = ["index.csv"]
    private var messageCount = 0

    /// `source` is `reader` itself, or `reader` with its secrets masked. Readers of zips refuse more than `mostFiles`.
    init(
        _ source: any ExchangeSource,
        of reader: SessionReader,
        to destination: ExportDestination,
        mostFiles: Int = ZipReader.mostEntries
    ) throws {
        self.source = source
        self.destination = destination
        self.mostFiles = mostFiles
        // As many digits as the largest number has, so that the names sort in the order of the numbers.
        width = max(4, String(try reader.bounds()?.upperBound ?? 0).count)
        temporary = try destination.directory == nil ? TemporaryDirectory(.raw) : nil
        directory = try destination.directory ?? OutputDirectory("\(temporary?.path ?? "")/messages")
        let file = try directory.file("index.csv")
        index = CSVExport(source: source) { try file.write($0) }
    }

    deinit { temporary?.remove() }

    var remark: String? {
        let messages = messageCount == 1 ? "1 message is" : "\(messageCount) messages are"
        return "\(messages) in it, one in a file; index.csv tells whose they are"
    }

    func add(_ exchange: RecordedExchange) throws {
        let digits = String(exchange.record.id.number)
        let number = String(repeating: "0", count: max(0, width - digits.count)) + digits
        for part in RawMessage.Part.allCases {
            guard let message = try RawMessage(part, of: exchange, from: source) else { continue }
            let name = "\(number)-\(part.rawValue)"
            try write("\(name).http") { try message.write($0) }
            messageCount += 1
            if destination.wantsBodies, let side = part.side { try addBody(exchange, side, name) }
        }
        // The index comes last, because only now it is known which parts were masked.
        try index.add(exchange)
    }

    private func addBody(_ exchange: RecordedExchange, _ side: BodySide, _ name: String) throws {
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
            let hint =
                "Choose fewer exchanges with a filter, or a directory (-o NAME without .zip), which may have any "
                + "number."
            throw StartError("The zip would have more than \(mostFiles) files, which its readers refuse.", hint: hint)
        }
        let file = try directory.file(name)
        try contents { try file.write($0) }
        if temporary != nil { names.append(name) }
    }

    func finish() throws {
        try index.finish()
        try directory.finish()
        guard let temporary else { return }
        let members = names.map { ZipWriter.Member($0, file: "\(temporary.path)/messages/\($0)") }
        try destination.write(members, by: "\(temporary.path)/zip")
    }
}
