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
            return start(on: passes) { [self] in
                do { try hand(over: text, name) } catch { report(error) }
            }
        }
        onReader { [self] reader in
            let exchanges: [RecordedExchange]
            if case .shown = request {
                exchanges = try request.ids.compactMap { try reader.exchange($0) }
            } else {
                exchanges = try request.ids.map { try reader.recorded($0) }
            }
            guard !isMasked else { return try copyMasked(request, exchanges, reader) }
            let files = CopiedBodies()
            let text: String
            var masked: (MaskedSource) throws -> CopyText
            switch request {
            case .whole(let form, _):
                text = try CopyText(form, exchanges, reader, files).text
                masked = { try CopyText(form, exchanges, $0, NamedBodies()) }
            case .part(let form, let name, let id, let options):
                let part = try CopyPart.text(form, name, try reader.recorded(id), source: reader, options)
                text = part
                masked = { CopyText(shown: $0.masked(shown: part), $0) }
            case .shown(let shown, _, _):
                text = shown
                masked = { CopyText(shown: $0.masked(shown: shown), $0) }
            }
            let secrets = countSecrets(exchanges, reader, masked)
            try hand(over: text, request.noun, files.note, secrets: secrets)
        }
    }

    private func copyMasked(_ request: CopyRequest, _ exchanges: [RecordedExchange], _ reader: SessionReader) throws {
        let masked = try maskedSource(reader) { masked in
            for exchange in exchanges { try masked.collectAll(exchange) }
            if case .shown(let text, _, _) = request { masked.collect(shown: text) }
        }
        let files = CopiedBodies(areMasked: true)
        let copy: CopyText
        switch request {
        case .whole(let form, _): copy = try CopyText(form, exchanges, masked, files)
        case .part(let form, let name, let id, let options):
            let exchange = masked.masked(try reader.recorded(id))
            let text = try CopyPart.text(form, name, exchange, source: masked, options)
            // A value stands alone here, without the name by which it is a secret.
            copy = CopyText(shown: form == .page ? text : masked.masked(shown: text), masked)
        case .shown(let text, _, _): copy = CopyText(shown: masked.masked(shown: text), masked)
        }
        let note = copy.secretCount == 1 ? ", 1 secret masked" : ", \(copy.secretCount) secrets masked"
        try hand(over: copy.text, request.noun, note + files.note)
    }

    /// How many secrets a copy of these exchanges holds; none if the masked copy cannot be made.
    private func countSecrets(
        _ exchanges: [RecordedExchange],
        _ reader: SessionReader,
        _ copy: (MaskedSource) throws -> CopyText
    ) -> Int {
        do {
            let masked = try maskedSource(reader) { masked in
                for exchange in exchanges { try masked.collectForNotice(exchange) }
            }
            return try copy(masked).secretCount
        } catch {
            return 0
        }
    }

    /// The session without the secrets of exchanges that are copied.
    private func maskedSource(
        _ reader: SessionReader,
        _ collect: (MaskedSource) throws -> Void
    ) throws -> MaskedSource {
        try SessionMask.source(reader, maskRules(reader), collect)
    }

    /// Puts a text on the clipboard and says where it is; a script on lines gets the text itself.
    private func hand(over text: String, _ noun: String, _ note: String = "", secrets: Int = 0) throws {
        guard !text.isEmpty else { throw ConsoleError("\(noun): there is nothing to copy.") }
        if isLinear, isatty(STDOUT_FILENO) == 0 { return tellCopied("", secrets, text) }
        switch try SystemClipboard.copy(text) {
        case .tool(let name): tellCopied("\(noun) copied with \(name)\(note).", secrets)
        case .terminal:
            // Without a screen there is no terminal clipboard either.
            tellCopied(isLinear ? "" : "\(noun) sent to the terminal's clipboard\(note).", secrets, text)
        case .file(let path, let reason): tellCopied("\(noun) saved to \(path), because \(reason)\(note).", secrets)
        }
    }

    private func tellCopied(_ words: String, _ secrets: Int, _ text: String? = nil) {
        if let text { inbox.answer { _ in [.terminal(.copy(text))] } }
        inbox.answer { $0.tellCopied(words, secrets) }
    }
}

/// A text for the clipboard, and how many secrets are masked in it.
struct CopyText {
    /// The longest text for a clipboard, in bytes.
    private static let longest = 8 << 20

    let text: String
    let secretCount: Int

    /// One exchange after the other; without their secrets if the source is a masked one.
    init(
        _ form: CopyForm,
        _ exchanges: [RecordedExchange],
        _ source: any ExchangeSource,
        _ files: any BodyFiles
    ) throws {
        let masked = source as? MaskedSource
        masked?.marksSecrets = form.isCommand
        var isBodyMasked = false
        let texts = try exchanges.map { recorded in
            let exchange = masked?.masked(recorded) ?? recorded
            let text = try CopyText.text(form, exchange, source, files)
            let parts = masked?.maskedParts(of: exchange.record) ?? []
            isBodyMasked = isBodyMasked || parts.contains { $0.hasSuffix(" body") }
            return text
        }
        text = texts.joined(separator: form.isCommand || form == .url ? "\n" : "\n\n")
        // Secrets that are numbers, and those in a body's own file, are not seen as placeholders.
        secretCount = max(masked?.mask.book.placeholderCount(in: text) ?? 0, isBodyMasked ? 1 : 0)
    }

    init(shown text: String, _ masked: MaskedSource) {
        self.text = text
        secretCount = masked.mask.book.placeholderCount(in: text)
    }

    private static func text(
        _ form: CopyForm,
        _ exchange: RecordedExchange,
        _ reader: any ExchangeSource,
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
        _ reader: any ExchangeSource,
        isRaw: Bool
    ) throws -> String {
        var bytes = ByteBuffer()
        _ = try BodyExport.write(exchange, side: side, from: reader, raw: isRaw) { piece in
            guard bytes.readableBytes + piece.readableBytes <= longest else {
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

    var note: String {
        let paths = paths.withLock { $0 }
        guard let first = paths.first else { return "" }
        return paths.count == 1
            ? "; it reads its body from \(first)" : "; they read \(paths.count) bodies beside \(first)"
    }
}

/// Where copied text goes: a clipboard of the desktop, the terminal's own, or a file.
enum SystemClipboard {
    enum Way: Sendable, Equatable {
        case tool(String)
        case terminal
        case file(String, String)
    }

    /// What the terminal can be handed, in bytes: base64 of more than that is dropped by many.
    static let longestForTerminal = 74_994 * 3 / 4

    static func copy(
        _ text: String,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> Way {
        let isRemote = environment["SSH_CONNECTION"] != nil || environment["SSH_TTY"] != nil
        if !isRemote {
            for tool in tools(environment) where run(tool, text, environment) { return .tool(tool[0]) }
        }
        // By default tmux drops the sequence of OSC 52 that a program writes, and with -w it writes its own.
        if environment["TMUX"] != nil, run(["tmux", "load-buffer", "-w", "-"], text, environment) {
            return .tool("tmux")
        }
        if text.utf8.count <= longestForTerminal, environment["SLUICE_CLIPBOARD"] != "file" { return .terminal }
        let path = NSTemporaryDirectory() + "sluice-copy-\(getuid()).txt"
        try ExportFile.write(text, to: path)
        let limit = Measures.size(Int64(longestForTerminal))
        let isLong = text.utf8.count > longestForTerminal
        let size = Measures.size(Int64(text.utf8.count))
        return .file(
            path,
            isLong ? "its \(size) are more than the \(limit) that a terminal accepts" : "no clipboard was found"
        )
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
        let paths = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(command[0])" }
        guard let path = paths.first(where: FileManager.default.isExecutableFile) else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = Array(command.dropFirst())
        process.environment = environment
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
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
