import Content
import Foundation
import HTTPModel
import NIOCore

@testable import Formats

/// A file of another program, and what its reader makes of it.
struct ArchiveFixture {
    var entries: [ArchiveEntry] = []
    /// What the recorder would be given.
    var records: [(record: ExchangeRecord, messages: ExchangeMessages, bodies: [BodySide: ByteBuffer])] = []
    /// What is told, but for missing times: most texts of tests have none.
    var losses: [String] = []
    var missingTimes: [String] = []
    var error: String?

    static func bytes(_ name: String) throws -> [UInt8] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)")
        return Array(try Data(contentsOf: file))
    }

    init(_ name: String) throws { self.init(bytes: try ArchiveFixture.bytes(name)) }

    /// Reads a file in pieces of `piece` bytes.
    init(bytes: [UInt8], piece: Int = 1 << 20) {
        let losses = ArchiveLosses()
        var offset = 0
        let refill: () -> [UInt8] = {
            defer { offset = min(offset + piece, bytes.count) }
            return Array(bytes[offset..<min(offset + piece, bytes.count)])
        }
        var reader: any ArchiveReader
        switch ArchiveFormat(beginning: Array(bytes.prefix(ArchiveFormat.tellingBytes))) {
        case .charlesJSON: reader = CharlesJSONReader(losses: losses, refill: refill)
        case .charlesXML: reader = CharlesXMLReader(losses: losses, refill: refill)
        case .mitmproxy: reader = MitmproxyReader(losses: losses, refill: refill)
        case .curl: reader = CurlFileReader(bytes, at: 1_000_000, losses: losses)
        case .har: reader = HARReader(losses: losses, refill: refill)
        default:
            error = "no format"
            return
        }
        var recording = ArchiveRecording()
        var read: [ArchiveEntry] = []
        var made = records
        do {
            let take: (ArchiveEntry) -> Void = { entry in
                read.append(entry)
                var bodies: [BodySide: ByteBuffer] = [:]
                for event in recording.events(entry) {
                    switch event {
                    case .body(_, let side, var part): bodies[side, default: ByteBuffer()].writeBuffer(&part)
                    case .finished(let record, let messages): made.append((record, messages, bodies))
                    default: break
                    }
                }
            }
            try reader.forEach(take)
        } catch {
            self.error = "\(error)"
        }
        (entries, records) = (read, made)
        self.losses = losses.phrases.filter { !$0.contains("missing time") }
        missingTimes = losses.phrases.filter { $0.contains("missing time") }
    }

    func body(_ index: Int, _ side: BodySide) -> String {
        String(buffer: records[index].bodies[side] ?? ByteBuffer())
    }

    /// A body without its content coding.
    func decoded(_ index: Int, _ side: BodySide) -> String {
        let codings = records[index].messages.fields(of: side).values(of: .contentEncoding)
            .flatMap { ContentCoding.list($0) }
        let bytes = records[index].bodies[side] ?? ByteBuffer()
        return String(buffer: ContentDecoder.decode(bytes, codings: codings, limit: 1 << 20).bytes)
    }
}
