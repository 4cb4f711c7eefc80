import Content
import Files
import Foundation
import HTTPModel
import Masking
import NIOCore
import Sharing
import Synchronization

/// A text for the clipboard, and how many secrets are masked in it.
struct CopyText {
    /// The longest text for a clipboard, in bytes.
    private static let longest = 8 << 20

    let text: String
    let secretCount: Int

    /// One exchange after the other; without their secrets where the source is a masked one.
    init(
        _ form: CopyForm,
        _ exchanges: [RecordedExchange],
        _ source: any ExchangeSource,
        _ files: any BodyFiles
    ) throws {
        let masked = source as? MaskedSource
        masked?.mask.book.isForPrograms = form.isProgram
        var needed: [Placeholder] = []
        var isBodyMasked = false
        let texts = try exchanges.map { recorded in
            let exchange = masked?.masked(recorded) ?? recorded
            let text = try CopyText.text(form, exchange, source, files) { more in
                for placeholder in more where !needed.contains(placeholder) { needed.append(placeholder) }
            }
            let parts = masked?.maskedParts(of: exchange.record) ?? []
            isBodyMasked = isBodyMasked || parts.contains { $0.hasSuffix(" body") }
            return text
        }
        let joined = texts.joined(separator: form.isCommand || form == .url ? "\n" : "\n\n")
        let guards = masked.map { form.isCommand ? CopyForm.guards(needed, $0) : "" } ?? ""
        text = guards + joined
        let seen = masked.map { $0.mask.book.placeholders(in: Array(joined.utf8)).map(\.placeholder) } ?? []
        // Secrets that are numbers, and those in a body's own file, are not seen as placeholders.
        secretCount = max(Set((needed + seen).map(\.ofSecret)).count, isBodyMasked ? 1 : 0)
    }

    /// What was shown, masked.
    init(shown text: String, _ masked: MaskedSource) {
        self.text = text
        secretCount = Set(masked.mask.book.placeholders(in: Array(text.utf8)).map(\.placeholder)).count
    }

    private static func text(
        _ form: CopyForm,
        _ exchange: RecordedExchange,
        _ reader: any ExchangeSource,
        _ files: any BodyFiles,
        needed: ([Placeholder]) -> Void
    ) throws -> String {
        if let text = try form.text(exchange, source: reader, files: files, needed: needed) { return text }
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
        _ reader: any ExchangeSource,
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
    private let directory: BodyDirectory
    private let paths = Mutex<[String]>([])

    init(areMasked: Bool = false) {
        let name = "sluice-copy-\(getuid())-\(areMasked ? "masked-" : "")bodies"
        directory = BodyDirectory(path: NSTemporaryDirectory() + name)
    }

    func write(_ name: String, contents: ((ByteBuffer) throws -> Void) throws -> Void) throws -> String {
        let path = try directory.write(name, contents: contents)
        try directory.finish()
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
