import Content
package import HTTPModel
import Masking

extension RecordedExchange {
    /// Whether the client sent only a part of its request; `bodySize` is the size of the recorded request body.
    package func isRequestCut(bodySize: Int64) -> Bool {
        guard [.failed, .interrupted].contains(record.state) else { return false }
        let fields = messages.fields(of: .requestReceived)
        if let announced = fields.value(of: .contentLength).flatMap({ Int64($0) }) { return announced > bodySize }
        let cutCodes: [ExchangeFailure.Code] = [.clientGone, .clientTimeout, .badRequest, .stopped]
        return fields.contains(.transferEncoding) && record.failure.map { cutCodes.contains($0.code) } ?? true
    }

    /// Why the whole request cannot be repeated; `nil` if it can. `bodySize` is the size in `source`, perhaps masked.
    func remarkOnBody(size bodySize: Int, _ source: any ExchangeSource) -> String? {
        if record.flags.contains(.requestBodyIncomplete) {
            let isDropped = record.flags.contains(.bodiesDropped)
            return isDropped ? "the body was dropped to keep the session small" : "the recorded body is incomplete"
        }
        let size = source.isMasking ? record.sizes.requestBody : Int64(bodySize)
        return record.kind != .webSocket && isRequestCut(bodySize: size) ? "the request did not come whole" : nil
    }
}

extension Placeholder {
    /// Asks the user to replace placeholders in an exported program or a body; `nil` without placeholders.
    static func remark(on bytes: [UInt8]) -> String? {
        let found = all(in: bytes, most: 10).map(\.text)
        return found.isEmpty ? nil : "put the secret in place of \(found.joined(separator: ", "))"
    }
}
