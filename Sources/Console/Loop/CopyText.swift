import Content
import Files
import Foundation
import HTTPModel
import NIOCore
import Recording
import Sharing
import Synchronization

enum CopyText {
    /// The longest text for a clipboard, in bytes.
    private static let longest = 8 << 20

    static func text(
        _ form: CopyForm,
        _ exchange: RecordedExchange,
        _ reader: SessionReader,
        _ files: any BodyFiles
    ) throws -> String {
        if let text = try form.text(exchange, source: reader, files: files) { return text }
        switch form {
        case .response: return try body(exchange, .responseReceived, reader, isRaw: false)
        case .request: return try body(exchange, .requestReceived, reader, isRaw: false)
        default:
            let heads = exchange.messages
            let request = try text(heads.requestHead) + body(exchange, .requestReceived, reader, isRaw: true)
            let response = try text(heads.responseHead) + body(exchange, .responseReceived, reader, isRaw: true)
            return request + "\n" + response
        }
    }

    private static func text(_ head: ByteBuffer?) -> String { head.map { String(buffer: $0) } ?? "" }

    private static func body(
        _ exchange: RecordedExchange,
        _ side: BodySide,
        _ reader: SessionReader,
        isRaw: Bool
    ) throws -> String {
        var bytes = ByteBuffer()
        _ = try BodyExport.write(exchange, side: side, from: reader, raw: isRaw) { piece in
            guard bytes.readableBytes + piece.readableBytes <= longest else {
                throw ConsoleError("The body is too long to be copied; the command save-body writes it to a file.")
            }
            bytes.writeImmutableBuffer(piece)
        }
        guard TextDecoder.isText(bytes) || bytes.readableBytes == 0 else {
            throw ConsoleError("The body is no text; the command save-body writes it to a file.")
        }
        return String(buffer: bytes)
    }
}

/// The bodies that commands on the clipboard read from files, in a folder that only the user can read.
final class CopiedBodies: BodyFiles {
    private let directory = BodyDirectory(path: NSTemporaryDirectory() + "sluice-copy-\(getuid())-bodies")
    private let paths = Mutex<[String]>([])

    func write(_ name: String, contents: ((ByteBuffer) throws -> Void) throws -> Void) throws -> String {
        let path = try directory.write(name, contents: contents)
        paths.withLock { $0.append(path) }
        return path
    }

    /// Which files the commands need, for the end of a message.
    var note: String {
        let paths = paths.withLock { $0 }
        guard let first = paths.first else { return "" }
        return paths.count == 1
            ? "; it reads its body from \(first)" : "; they read \(paths.count) bodies beside \(first)"
    }
}
