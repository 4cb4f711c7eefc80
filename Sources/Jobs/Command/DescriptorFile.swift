package import Content
import Files
import NIOCore

/// What gRPC messages mean, as `protoc` writes it.
package enum DescriptorFile {
    /// No compiled descriptor set is larger, in bytes; perhaps the file is a device that never ends.
    private static let largest = 256 << 20

    /// Reads files as if they were one. Throws `StartError` where one cannot be used.
    package static func read(_ paths: [String]) throws -> DescriptorSet {
        let hint = "protoc --descriptor_set_out=FILE --include_imports YOUR.proto writes one."
        var data: [UInt8] = []
        for path in paths {
            do {
                data += try InputFile.contents(of: path, atMost: largest + 1, takesPipes: true)
            } catch {
                throw StartError("The descriptor set \(error)", hint: hint)
            }
            guard data.count <= largest else {
                throw StartError("The descriptor set \(path) is larger than \(largest >> 20) MiB.", hint: hint)
            }
        }
        do {
            // Messages side by side are their union (Protocol Buffers, "Encoding", last one wins and lists are joined).
            return try DescriptorSet(ByteBuffer(bytes: data))
        } catch {
            let names = paths.joined(separator: ", ")
            throw StartError("The descriptor set \(names) cannot be used: \(error.message).", hint: error.hint)
        }
    }
}
