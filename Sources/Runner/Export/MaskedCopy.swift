package import HTTPModel
package import Recording

extension SessionMask {
    /// Calls `body` with an exchange of a session without its secrets, also those that other exchanges show, and with a
    /// session in the temporary folder that has it alone: its bodies with their content coding, its messages with their
    /// times. The folder goes afterwards.
    ///
    /// Throws what `body` throws, `ProfileError` for rules of the session that are not YAML, `SessionError` and
    /// ``StartError`` where the copy cannot be written.
    package static func withCopy<Value>(
        of exchange: RecordedExchange,
        in reader: SessionReader,
        onProgress: @escaping (Int) throws -> Void = { _ in },
        _ body: (RecordedExchange, SessionReader) throws -> Value
    ) throws -> Value {
        let pipeline = ExportPipeline(reader, onProgress: onProgress) { try $0([exchange.record.id.number]) }
        let masked = try source(pipeline, rules(of: reader))
        let directory = try TemporaryDirectory("view")
        defer { directory.remove() }
        let path = "\(directory.path)/masked.sluice"
        let slice = try SessionSlice(path, of: reader, masked)
        try slice.add(exchange)
        try slice.finish([])
        let copy = try SessionReader(path: path)
        guard var shown = try copy.exchange(exchange.record.id) else {
            throw StartError("The masked copy of exchange \(exchange.record.id) could not be written.")
        }
        // The copy is of what there is by now.
        shown.record.state = exchange.record.state
        return try body(shown, copy)
    }
}
