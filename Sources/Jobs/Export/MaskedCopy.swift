import Files
package import HTTPModel
package import Recording

/// An exchange without its secrets, and a temporary session that has only this exchange.
package final class MaskedCopy {
    package let exchange: RecordedExchange
    package let reader: SessionReader
    private let directory: TemporaryDirectory

    /// Throws errors of `onProgress`, `ProfileError` for rules that are not YAML, `SessionError` and ``StartError``.
    package init(
        of exchange: RecordedExchange,
        in reader: SessionReader,
        onProgress: @escaping (Int) throws -> Void = { _ in }
    ) throws {
        let pipeline = ExportPipeline(reader, onProgress: onProgress) { try $0([exchange.record.id.number]) }
        let masked = try SessionMask.source(pipeline, SessionMask.rules(of: reader))
        let directory = try TemporaryDirectory(.view)
        do {
            let path = "\(directory.path)/masked.sluice"
            let slice = try SessionSlice(path, of: reader, masked)
            try slice.add(exchange)
            try slice.finish([])
            let copy = try SessionReader(path: path)
            guard var shown = try copy.exchange(exchange.record.id) else {
                throw StartError("The masked copy of exchange \(exchange.record.id) could not be written.")
            }
            shown.record.state = exchange.record.state
            (self.exchange, self.reader, self.directory) = (shown, copy, directory)
        } catch {
            directory.remove()
            throw error
        }
    }

    deinit { directory.remove() }
}
