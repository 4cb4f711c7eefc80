import Content
import Description
import Files
import Formats
import Foundation
import HTTPModel
import Jobs
import Masking
import NIOCore
import Recording
import Synchronization

extension EffectRunner {
    func copy(_ request: CopyRequest, isMasked: Bool) {
        if case .shown(let text, let name, let ids) = request, ids.isEmpty, !isMasked {
            return attempt { [self] in try hand(over: text, name) }
        }
        onReader { [self] reader in
            // A text that is shown can be copied even if its exchanges were deleted.
            let isShown = if case .shown = request { true } else { false }
            let exchanges = try request.ids.compactMap { try isShown ? reader.exchange($0) : reader.recorded($0) }
            let files = CopiedBodies(areMasked: isMasked)
            guard isMasked else {
                let text = try CopyMaker(source: reader, files: files).copy(request, exchanges).text
                let secrets = countSecrets(request, text, exchanges, reader)
                return try hand(over: text, request.noun, files.note, secrets: secrets)
            }
            let masked = try SessionMask.source(reader, maskRules(reader)) { masked in
                for exchange in exchanges { try masked.collectAll(exchange) }
                if case .shown(let text, _, _) = request { masked.collect(shown: text) }
            }
            let copy = try CopyMaker(source: masked, files: files).copy(request, exchanges)
            let note = ", \(LinearSentence.count(copy.secrets, "secret")) masked"
            try hand(over: copy.text, request.noun, note + files.note)
        }
    }

    /// The number of secrets in a copied text; 0 if the masked copy cannot be made.
    private func countSecrets(
        _ request: CopyRequest,
        _ text: String,
        _ exchanges: [RecordedExchange],
        _ reader: SessionReader
    ) -> Int {
        let masked = try? SessionMask.source(reader, maskRules(reader)) { masked in
            for exchange in exchanges { try masked.collectForNotice(exchange) }
        }
        guard let masked else { return 0 }
        let maker = CopyMaker(source: masked, files: NamedBodies())
        guard case .whole = request else { return maker.shown(text).secrets }
        return (try? maker.copy(request, exchanges).secrets) ?? 0
    }

    /// Copies a text to the clipboard and reports where it is; in linear mode, a script gets the text itself.
    private func hand(over text: String, _ noun: String, _ note: String = "", secrets: Int = 0) throws {
        guard !text.isEmpty else { throw ConsoleError("\(noun): there is nothing to copy.") }
        if isLinear, isatty(STDOUT_FILENO) == 0 { return tellCopied("", secrets, text) }
        switch try SystemClipboard.copy(text) {
        case .tool(let name): tellCopied("\(noun) copied with \(name)\(note).", secrets)
        case .terminal:
            // Without a screen, the terminal's clipboard is not available either.
            tellCopied(isLinear ? "" : "\(noun) sent to the terminal's clipboard\(note).", secrets, text)
        case .file(let path, let reason): tellCopied("\(noun) saved to \(path), because \(reason)\(note).", secrets)
        }
    }

    private func tellCopied(_ words: String, _ secrets: Int, _ text: String? = nil) {
        if let text { inbox.answer { _ in [.terminal(.copy(text))] } }
        inbox.answer { $0.tellCopied(words, secrets) }
    }
}

/// Makes the copied text of exchanges, without their secrets if the source is a ``MaskedSource``.
struct CopyMaker {
    typealias Copy = (text: String, secrets: Int)

    /// The maximum length of a copied text, in bytes.
    private static let longest = 8 << 20

    let source: any ExchangeSource
    let files: any BodyFiles

    private var masked: MaskedSource? { source as? MaskedSource }

    func copy(_ request: CopyRequest, _ exchanges: [RecordedExchange]) throws -> Copy {
        switch request {
        case .whole(let form, _): return try copy(form, exchanges)
        case .part(let form, let name, _, let options):
            let exchange = masked?.masked(exchanges[0]) ?? exchanges[0]
            let text = try CopyPart.text(form, name, exchange, source: source, options)
            // A value is copied without its name, and only the name may show that the value is a secret.
            return form == .page ? counted(text) : shown(text)
        case .shown(let text, _, _): return shown(text)
        }
    }

    func copy(_ form: CopyForm, _ exchanges: [RecordedExchange]) throws -> Copy {
        masked?.marksSecrets = form.isCommand
        var isBodyMasked = false
        let texts = try exchanges.map { recorded in
            let exchange = masked?.masked(recorded) ?? recorded
            let text = try self.text(form, exchange)
            let parts = masked?.maskedParts(of: exchange.record) ?? []
            isBodyMasked = isBodyMasked || parts.contains { $0.hasSuffix(" body") }
            return text
        }
        let text = texts.joined(separator: form.isCommand || form == .url ? "\n" : "\n\n")
        // Masked numbers, and masked bodies in their own files, do not show up as placeholders in the text.
        return counted(text, atLeast: isBodyMasked ? 1 : 0)
    }

    /// A text as it was shown; if the source is masked, with its secrets masked.
    func shown(_ text: String) -> Copy { counted(masked?.masked(shown: text) ?? text) }

    private func counted(_ text: String, atLeast least: Int = 0) -> Copy {
        (text, max(masked?.mask.book.placeholderCount(in: text) ?? 0, least))
    }

    private func text(_ form: CopyForm, _ exchange: RecordedExchange) throws -> String {
        if let text = try form.text(exchange, source: source, files: files) { return text }
        switch form {
        case .response: return try body(exchange, .responseReceived, isRaw: false)
        case .request: return try body(exchange, .requestReceived, isRaw: false)
        default:
            func text(_ head: ByteBuffer?, _ side: BodySide) throws -> String {
                try (head.map { String(buffer: $0) } ?? "") + body(exchange, side, isRaw: true)
            }
            let heads = exchange.messages
            let request = try text(heads.requestHead, .requestReceived)
            return try request + "\n" + text(heads.responseHead, .responseReceived)
        }
    }

    private func body(_ exchange: RecordedExchange, _ side: BodySide, isRaw: Bool) throws -> String {
        var bytes = ByteBuffer()
        _ = try BodyExport.write(exchange, side: side, from: source, raw: isRaw) { piece in
            guard bytes.readableBytes + piece.readableBytes <= Self.longest else {
                throw ConsoleError("The body is too long to copy; save-body writes it to a file.")
            }
            bytes.writeImmutableBuffer(piece)
        }
        guard TextDecoder.isText(bytes) || bytes.readableBytes == 0 else {
            throw ConsoleError("The body is not text; save-body writes it to a file.")
        }
        return String(buffer: bytes)
    }
}

/// The files of bodies to which copied commands refer, in a directory that only the user can read.
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

    var note: String {
        let paths = paths.withLock { $0 }
        guard let first = paths.first else { return "" }
        let isOne = paths.count == 1
        return isOne ? "; it reads its body from \(first)" : "; they read \(paths.count) bodies beside \(first)"
    }
}

/// The destinations of copied text: a desktop clipboard, the terminal's clipboard, or a file.
enum SystemClipboard {
    enum Way: Sendable, Equatable {
        case tool(String)
        case terminal
        case file(String, String)
    }

    /// The maximum length for the terminal's clipboard, in bytes: many terminals drop longer base64.
    static let longestForTerminal = 74_994 * 3 / 4

    static func copy(
        _ text: String,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> Way {
        if environment["SSH_CONNECTION"] == nil, environment["SSH_TTY"] == nil {
            for tool in tools(environment) where run(tool, text, environment) { return .tool(tool[0]) }
        }
        // By default, tmux drops OSC 52 sequences from programs; `load-buffer -w` makes tmux write its own.
        if environment["TMUX"] != nil, run(["tmux", "load-buffer", "-w", "-"], text, environment) {
            return .tool("tmux")
        }
        if text.utf8.count <= longestForTerminal, environment["SLUICE_CLIPBOARD"] != "file" { return .terminal }
        let path = NSTemporaryDirectory() + "sluice-copy-\(getuid()).txt"
        try ExportFile.write(text, to: path)
        guard text.utf8.count > longestForTerminal else { return .file(path, "no clipboard was found") }
        let (size, limit) = (Measures.size(Int64(text.utf8.count)), Measures.size(Int64(longestForTerminal)))
        return .file(path, "its \(size) are more than the \(limit) that a terminal accepts")
    }

    private static func tools(_ environment: [String: String]) -> [[String]] {
        #if os(macOS)
        return [["pbcopy"]]
        #else
        let wayland = [["wl-copy"]]
        let x11 = [["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]]
        return (environment["WAYLAND_DISPLAY"] == nil ? [] : wayland) + (environment["DISPLAY"] == nil ? [] : x11)
        #endif
    }

    private static func run(_ command: [String], _ text: String, _ environment: [String: String]) -> Bool {
        guard let path = SilentProgram.path(command[0], environment) else { return false }
        let process = SilentProgram.process(path, Array(command.dropFirst()))
        process.environment = environment
        let input = Pipe()
        process.standardInput = input
        do {
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try input.fileHandleForWriting.close()
        } catch {
            return false
        }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
