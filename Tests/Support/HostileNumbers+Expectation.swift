package import Testing

extension HostileNumbers {
    /// Expects that something can be read whatever the number at one place of a template is, or is refused in order.
    package static func expect(
        _ template: String,
        at place: Int,
        location: SourceLocation = #_sourceLocation,
        canBeRead read: ([UInt8]) throws -> Void
    ) {
        for text in texts {
            let bytes = Array(filled(template) { $0 == place ? text : nil }.utf8)
            #expect(throws: Never.self, "number \(place) is \(text)", sourceLocation: location) { try read(bytes) }
        }
    }
}
