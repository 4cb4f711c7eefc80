import Content
package import HTTPModel

extension RecordedExchange {
    /// Whether the client had sent only a part of its request when the exchange ended. `bodySize` is that of the request's
    /// recorded body, in bytes.
    package func isRequestCut(bodySize: Int64) -> Bool {
        guard [.failed, .interrupted].contains(record.state) else { return false }
        let fields = messages.fields(of: .requestReceived)
        if let announced = fields.value(of: .contentLength).flatMap({ Int64($0) }) {
            // An announced body that is all there came whole, whoever went away then.
            return announced > bodySize
        }
        let cutCodes: [ExchangeFailure.Code] = [.clientGone, .clientTimeout, .badRequest, .stopped]
        return fields.contains(.transferEncoding) && record.failure.map { cutCodes.contains($0.code) } ?? true
    }

    /// What a command or a program says of a request that it cannot repeat as it was meant; `nil` for whole ones. The size
    /// is that of the body that `source` has, unless it is masked, and so of another size.
    func remarkOnCut(bodySize: Int, _ source: any ExchangeSource) -> String? {
        let size = source.isMasking ? record.sizes.requestBody : Int64(bodySize)
        return isRequestCut(bodySize: size) ? "the request did not come whole" : nil
    }
}
