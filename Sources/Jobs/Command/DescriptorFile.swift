package import Content
import Files
import NIOCore

/// Descriptor sets of gRPC messages, as `protoc` writes them.
package enum DescriptorFile {
    /// In bytes; the file may be a device without an end.
    private static let largest = 256 << 20

    /// Reads the files as one descriptor set. Throws `StartError` if a file cannot be used.
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
            // Concatenated messages merge (Protocol Buffers, "Encoding": the last value wins, lists are joined).
            return try DescriptorSet(ByteBuffer(bytes: data))
        } catch {
            let names = paths.joined(separator: ", ")
            throw StartError("The descriptor set \(names) cannot be used: \(error.message).", hint: error.hint)
        }
    }
}
