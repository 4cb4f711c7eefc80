package import NIOCore

package struct DescriptorSetError: Error, Hashable, CustomStringConvertible {
    package var message: String
    package var hint: String

    package var description: String { "\(message)\n\(hint)" }
}

/// The types and services that `protoc --descriptor_set_out` has written (`FileDescriptorSet`, descriptor.proto).
package struct DescriptorSet: Sendable {
    package struct Method: Sendable, Hashable {
        package var name = ""
        /// The full names of the types of the client's and the server's messages.
        package var input = ""
        package var output = ""
        package var isClientStreaming = false
        package var isServerStreaming = false
    }

    package enum Lookup: Sendable, Hashable {
        case found(Method)
        /// The set does not have the method; the value says why.
        case unknown(String)
    }

    var messages: [String: MessageDescriptor] = [:]
    var enums: [String: EnumDescriptor] = [:]
    var services: [String: [Method]] = [:]

    package var serviceNames: [String] { services.keys.sorted() }

    package init(_ bytes: ByteBuffer) throws(DescriptorSetError) {
        let bytes = Array(bytes.readableBytesView)
        if let mistake = DescriptorSet.mistake(bytes) { throw mistake }
        var parser = DescriptorParser(bytes)
        do throws(ProtobufError) {
            try parser.parseSet()
        } catch {
            throw DescriptorSet.refusal("it is no FileDescriptorSet: \(error)", parser.filesRead)
        }
        guard parser.filesRead > 0 else { throw DescriptorSet.refusal("it describes no file", 0) }
        messages = parser.messages
        enums = parser.enums
        services = parser.services
    }

    /// Finds the method that a request asks for: the last two segments of the path, `package.Service/Method`.
    package func method(path: some StringProtocol) -> Lookup {
        let segments = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count >= 3, let name = segments.last, let service = segments.dropLast().last, !name.isEmpty
        else { return .unknown("the path does not end in /package.Service/Method") }
        guard let methods = services[String(service)] else {
            let known = DescriptorSet.listed(serviceNames)
            return .unknown("the descriptor set has no service \(service); it has \(known)")
        }
        guard let method = methods.first(where: { $0.name == name }) else {
            let known = DescriptorSet.listed(methods.map(\.name))
            return .unknown("the service \(service) has no method \(name) in the descriptor set; it has \(known)")
        }
        return .found(method)
    }

    /// Reads a message as a type of the set; `nil` if the set does not have it. Fields that the type does not have, or
    /// has with a different wire type, keep their numbers. A partial message may end within a field.
    package func decode(
        _ bytes: ByteBuffer,
        as type: String,
        isPartial: Bool = false,
        limits: ProtobufLimits = ProtobufLimits()
    ) -> ProtobufContent? {
        guard messages[type] != nil || WellKnownType(rawValue: type) != nil else { return nil }
        var reader = TypedReader(self, Array(bytes.readableBytesView), isPartial: isPartial, limits: limits)
        let root = reader.wholeMessage(type)
        return ProtobufContent(root: root, isTyped: true, problem: reader.problem, isCut: reader.isCut)
    }

    private static func listed(_ names: [String]) -> String {
        guard !names.isEmpty else { return "none" }
        let shown = names.prefix(5).joined(separator: ", ")
        return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
    }
}

extension DescriptorSet {
    private static let command = "protoc --descriptor_set_out=FILE --include_imports YOUR.proto"

    /// Recognises, by its first bytes, a file that people often pass instead of a descriptor set.
    private static func mistake(_ bytes: [UInt8]) -> DescriptorSetError? {
        let hint = "\(command) writes one."
        guard !bytes.isEmpty else { return DescriptorSetError(message: "it is empty", hint: hint) }
        if bytes.starts(with: [0x1F, 0x8B]) {
            return DescriptorSetError(message: "it is compressed with gzip", hint: "Try gunzip first.")
        }
        let text = bytes.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        if text.starts(with: "{".utf8) {
            return DescriptorSetError(message: "it is JSON, not the binary form of a descriptor set", hint: hint)
        }
        let words = ["syntax", "edition", "package", "import", "message", "//", "/*"]
        if words.contains(where: { text.starts(with: $0.utf8) }), TextDecoder.isText(ByteBuffer(bytes: bytes)) {
            return DescriptorSetError(message: "it is the source of a .proto file, not compiled", hint: hint)
        }
        return nil
    }

    private static func refusal(_ message: String, _ filesRead: Int) -> DescriptorSetError {
        let isPartial = filesRead > 0
        let read = isPartial ? " (\(filesRead) \(filesRead == 1 ? "file" : "files") could be read before that)" : ""
        let hint = isPartial ? "It may be cut short; write it again: \(command)" : "\(command) writes one."
        return DescriptorSetError(message: message + read, hint: hint)
    }
}
