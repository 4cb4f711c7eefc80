package import Content
package import HTTPModel

extension ExchangePlaces {
    private static let (longestMessage, mostMessages) = (1 << 20, 10_000)

    /// Also reads the fields of gRPC messages, by `descriptors`; at most 1 MiB of each message.
    package convenience init(_ exchange: RecordedExchange, source: any ExchangeSource, descriptors: DescriptorSet?) {
        self.init(exchange, source: source) {
            let limit = ExchangePlaces.longestMessage
            guard descriptors != nil,
                var call = GRPCCall(exchange, source: source, descriptors: descriptors, messageLimit: limit)
            else { return [] }
            var contents: [ProtobufContent] = []
            while contents.count < ExchangePlaces.mostMessages, let message = try call.next() {
                let text = call.directions[message.direction].text
                if let content = text.content(message.frame, limit: limit) { contents.append(content) }
            }
            return contents
        }
    }
}
