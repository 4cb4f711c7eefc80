import HTTPModel
import Masking
import Recording
import Runner
import Sharing

/// Copies, as they were recorded or without their secrets.
extension EffectRunner {
    /// Copies something of exchanges, one after the other, or only returns it as text.
    func copy(_ form: CopyForm, _ ids: [ExchangeID], asText: Bool = false) {
        onReader { [self] reader in
            let exchanges = try ids.map { try reader.recorded($0) }
            let files = CopiedBodies()
            let text = try CopyText(form, exchanges, reader, files).text
            let secrets = countSecrets(exchanges, reader) { try CopyText(form, exchanges, $0, NamedBodies()) }
            try hand(over: text, EffectRunner.noun(form, ids.count), files.note, secrets: secrets, asText: asText)
        }
    }

    func copyPart(_ form: CopyForm, _ name: String, _ id: ExchangeID, _ options: DetailOptions, asText: Bool = false) {
        onReader { [self] reader in
            let exchange = try reader.recorded(id)
            let text = try CopyPart.text(form, name, exchange, source: reader, options)
            let secrets = countSecrets([exchange], reader) { CopyText(shown: $0.masked(shown: text), $0) }
            try hand(over: text, form.noun, secrets: secrets, asText: asText)
        }
    }

    /// Copies a text that is at hand, perhaps one that is shown of exchanges.
    func copy(_ text: String, as name: String, of ids: [ExchangeID]) {
        guard !ids.isEmpty else {
            return start(on: passes) { [self] in
                do { try hand(over: text, name) } catch { report(error) }
            }
        }
        onReader { [self] reader in
            let exchanges = try ids.compactMap { try reader.exchange($0) }
            let secrets = countSecrets(exchanges, reader) { CopyText(shown: $0.masked(shown: text), $0) }
            try hand(over: text, name, secrets: secrets)
        }
    }

    /// Copies the same again, with its secrets masked.
    func copyMasked(_ request: CopyRequest, asText: Bool = false) {
        onReader { [self] reader in
            let exchanges = try request.ids.compactMap { try reader.exchange($0) }
            let masked = try maskedSource(exchanges, reader) { masked in
                for exchange in exchanges { try masked.collectAll(exchange) }
                if case .shown(let text, _, _) = request { masked.collect(shown: text) }
            }
            let files = CopiedBodies(areMasked: true)
            let copy: CopyText
            let noun: String
            switch request {
            case .whole(let form, let ids):
                copy = try CopyText(form, exchanges, masked, files)
                noun = EffectRunner.noun(form, ids.count)
            case .part(let form, let name, let id, let options):
                let exchange = masked.masked(try reader.recorded(id))
                let text = try CopyPart.text(form, name, exchange, source: masked, options)
                // A value stands alone here, without the name by which it is a secret.
                copy = CopyText(shown: form == .page ? text : masked.masked(shown: text), masked)
                noun = form.noun
            case .shown(let text, let name, _):
                copy = CopyText(shown: masked.masked(shown: text), masked)
                noun = name
            }
            let note = copy.secretCount == 1 ? ", 1 secret masked" : ", \(copy.secretCount) secrets masked"
            try hand(over: copy.text, noun, note + files.note, asText: asText)
        }
    }

    private static func noun(_ form: CopyForm, _ count: Int) -> String { (count > 1 ? "\(count) × " : "") + form.noun }

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

    /// Gives a text to the clipboard, and says where it is.
    private func hand(
        over text: String,
        _ noun: String,
        _ note: String = "",
        secrets: Int = 0,
        asText: Bool = false
    ) throws {
        guard !text.isEmpty else { throw ConsoleError("\(noun): there is nothing to copy.") }
        if asText { return inbox.send(.copied(text, "", secrets: secrets)) }
        switch try SystemClipboard.copy(text) {
        case .tool(let name): inbox.send(.copied(nil, "\(noun) copied with \(name)\(note).", secrets: secrets))
        case .terminal:
            inbox.send(.copied(text, "\(noun) handed to the terminal's clipboard\(note).", secrets: secrets))
        case .file(let path, let reason):
            inbox.send(.copied(nil, "\(noun) is in \(path), as \(reason)\(note).", secrets: secrets))
        }
    }
}
