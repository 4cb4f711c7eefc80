package import Content
package import HTTPModel
import Text

extension ExchangeDifference {
    /// What differs: a value with a place, or one of the few values without a place.
    package enum Subject: Sendable, Hashable {
        case place(Place)
        case scheme, port, failure, grpcStatus
        /// A line of a text body, from 1 on.
        case line(Place.Root, Int)
        /// The rest of a body after its first bytes, which are compared.
        case rest(Place.Root, after: Int64)
        case messages(StreamedMessage.Direction)

        package var part: Part {
            switch self {
            case .scheme, .port, .line(.request, _), .rest(.request, _): .request
            case .failure, .grpcStatus: .status
            case .line, .rest, .messages: .body
            case .place(let place):
                switch (place.root, place.part) {
                case (.request, _): .request
                case (.response, .status): .status
                case (.response, .header): .fields
                default: .body
                }
            }
        }

        /// The name of the value; if it has no name of its own, the name of its part: `host`, `status`.
        var name: String {
            guard case .place(let place) = self else { return description }
            return place.name ?? place.part.rawValue
        }

        /// The subject with `[*]` instead of each element's number.
        package var general: Subject {
            if case .place(let place) = self { .place(place.general) } else { self }
        }
    }
}

extension ExchangeDifference.Subject: CustomStringConvertible {
    package var description: String {
        switch self {
        case .place(let place): place.description
        case .scheme: "scheme"
        case .port: "port"
        case .failure: "failure"
        case .grpcStatus: "gRPC status"
        case .line(let root, let number): "\(root).body line \(number)"
        case .rest(let root, let offset): "\(root).body after \(Measures.size(offset))"
        case .messages(.fromClient): "messages of the client"
        case .messages(.fromServer): "messages of the server"
        }
    }
}
