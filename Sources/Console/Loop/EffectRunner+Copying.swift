import Foundation
import HTTPModel
import Masking
import Recording
import Runner
import Sharing

/// Copies, as they were recorded or without their secrets.
extension EffectRunner {
    /// Copies as recorded, or with the secrets masked.
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

    private func copyMasked(
        _ request: CopyRequest,
        _ exchanges: [RecordedExchange],
        _ reader: SessionReader
    ) throws {
        let masked = try maskedSource(exchanges, reader) { masked in
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

    /// How many secrets a copy of these exchanges holds; none where the masked copy cannot be made.
    private func countSecrets(
        _ exchanges: [RecordedExchange],
        _ reader: SessionReader,
        _ copy: (MaskedSource) throws -> CopyText
    ) -> Int {
        do {
            let masked = try maskedSource(exchanges, reader) { masked in
                for exchange in exchanges { try masked.collectForNotice(exchange) }
            }
            return try copy(masked).secretCount
        } catch {
            return 0
        }
    }

    /// The session without the secrets of exchanges that are copied, also those that exchanges shortly before show: a copy is
    /// there at once.
    private func maskedSource(
        _ exchanges: [RecordedExchange],
        _ reader: SessionReader,
        _ collect: (MaskedSource) throws -> Void
    ) throws -> MaskedSource {
        let numbers = exchanges.map(\.record.id.number)
        return try SessionMask.source(reader, numbers, maskRules(reader), others: .near, collect)
    }

    /// Puts a text on the clipboard and says where it is; a script on lines gets the text itself.
    private func hand(over text: String, _ noun: String, _ note: String = "", secrets: Int = 0) throws {
        guard !text.isEmpty else { throw ConsoleError("\(noun): there is nothing to copy.") }
        if isLinear, isatty(STDOUT_FILENO) == 0 { return tellCopied("", secrets, text) }
        switch try SystemClipboard.copy(text) {
        case .tool(let name): tellCopied("\(noun) copied with \(name)\(note).", secrets)
        case .terminal:
            // Without a screen there is no terminal clipboard either.
            tellCopied(isLinear ? "" : "\(noun) handed to the terminal's clipboard\(note).", secrets, text)
        case .file(let path, let reason): tellCopied("\(noun) is in \(path), as \(reason)\(note).", secrets)
        }
    }

    private func tellCopied(_ words: String, _ secrets: Int, _ text: String? = nil) {
        if let text { inbox.answer { _ in [.terminal(.copy(text))] } }
        inbox.answer { $0.tellCopied(words, secrets) }
    }
}
