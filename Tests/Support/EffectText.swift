import ExchangeCore
import HTTPModel
import NIOCore

extension ExchangeEffect {
    /// The effect in one line, as dialogues expect it.
    var line: String {
        switch self {
        case .connect(let destination, let fresh):
            "connect \(destination.scheme)://\(destination.authority)\(fresh ? " fresh" : "")"
        case .sendRequestHead(let head, let framing): "> \(head.method) \(head.target) (\(framing.line))"
        case .sendRequestPart(let part): "> part \(part.line)"
        case .sendRequestEnd(let trailers): "> end\(trailers.line)"
        case .sendInterim(let head): "< interim \(head.status)"
        case .sendResponseHead(let head, let framing): "< \(head.status) (\(framing.line))"
        case .sendResponsePart(let part): "< part \(part.line)"
        case .sendResponseEnd(let trailers): "< end\(trailers.line)"
        case .withholdCloseNotify(let direction): "withhold close_notify \(direction)"
        case .becomeTunnel: "tunnel"
        case .readClient(let isReading): isReading ? "read client" : "stop client"
        case .readUpstream(let isReading): isReading ? "read upstream" : "stop upstream"
        case .wake(_, let direction, let generation): "wake \(direction) \(generation)"
        case .hold(let id, .request(_, let body, _), _): "hold \(id) request\(body.map { " " + $0.line } ?? "")"
        case .hold(let id, .response(_, let body), _): "hold \(id) response\(body.map { " " + $0.line } ?? "")"
        case .releaseHold(let id): "release \(id)"
        case .lookUp(let name, let address): "look up \(name) for \(address)"
        case .perform(_, let direction, let generation): "work \(direction) \(generation)"
        case .performAfterwards: "work afterwards"
        case .readFile(let file): "file \(file.length)"
        case .boundClientBuffer: "bound client"
        case .abandonUpstream(let code): "abandon\(code == .cancel ? "" : " \(code)")"
        // The two that Sluice itself chooses mean the same to every client.
        case .abortClient(let code): "abort\(code == .cancel || code == .internalError ? "" : " \(code)")"
        case .finished: "finished"
        }
    }
}

extension BodyFraming {
    fileprivate var line: String {
        switch self {
        case .none: "none"
        case .length(let length): String(length)
        case .chunked: "chunked"
        case .untilClose: "close"
        }
    }
}

extension ByteBuffer {
    /// Short text as it is, anything else by its size.
    fileprivate var line: String {
        let isText = readableBytesView.allSatisfy { (0x20...0x7E).contains($0) }
        return isText && readableBytes <= 64 ? "'\(String(buffer: self))'" : "\(readableBytes) bytes"
    }
}

extension Optional where Wrapped == FieldSection {
    fileprivate var line: String {
        guard let self, !self.isEmpty else { return "" }
        return " " + self.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
    }
}
