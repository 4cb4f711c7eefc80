import Content
import HTTPModel
import NIOCore
import Text

/// Writes the messages of one direction of a gRPC call as lines for people.
struct GRPCMessageText {
    /// How messages are compressed: the value of `grpc-encoding`.
    let encoding: String?
    let form: GRPCMessageForm
    /// The full name of the messages' type; `nil` if it is not known.
    let type: String?
    let descriptors: DescriptorSet?

    /// A message as lines, from at most `limit` decompressed bytes, and how many bytes were read.
    func lines(_ frame: GRPCFrame, limit: Int) -> (lines: [String], size: Int) {
        let content = frame.content(encoding: encoding, limit: limit)
        let isCut = frame.leftOut > 0 || content.stoppedAtLimit || frame.received < frame.size
        var notes: [String] = []
        if let problem = content.problem, problem.kind != .stoppedAtLimit, !(isCut && problem.kind == .truncated) {
            notes.append("(\(problem))")
            // Bytes that are still compressed are not a message.
            if problem.kind == .unknownCoding { return (notes.map(VisibleText.of), 0) }
        }
        if isCut { notes.append("(only the first \(Measures.size(Int64(content.bytes.readableBytes))) are read)") }
        let (lines, remarks) = form == .protobuf ? protobuf(content.bytes, isCut: isCut) : (text(content.bytes), [])
        return ((lines + remarks + notes).map(VisibleText.of), content.bytes.readableBytes)
    }

    private func protobuf(_ bytes: ByteBuffer, isCut: Bool) -> (lines: [String], remarks: [String]) {
        let typed = type.flatMap { descriptors?.decode(bytes, as: $0, isPartial: isCut) }
        let content = typed ?? ProtobufContent.schemaless(bytes, isPartial: isCut)
        var remarks: [String] = []
        if let type, typed == nil { remarks.append("(\(type) is not in the descriptor set)") }
        if content.isCut { remarks.append("(the rest of its fields is left out)") }
        if let problem = content.problem { remarks.append("(not all of it is Protocol Buffers: \(problem))") }
        let lines = content.lines
        return (lines.isEmpty && remarks.isEmpty ? ["(no fields)"] : lines, remarks)
    }

    /// The message by its descriptor; `nil` if its type is not known.
    func content(_ frame: GRPCFrame, limit: Int) -> ProtobufContent? {
        guard form == .protobuf, let type else { return nil }
        return descriptors?.decode(frame.content(encoding: encoding, limit: limit).bytes, as: type, isPartial: true)
    }

    private func text(_ bytes: ByteBuffer) -> [String] {
        if form == .json {
            var writer = DetailWriter(DetailOptions())
            if writer.json(Array(bytes.readableBytesView)) == nil { return writer.lines.map(\.plain) }
        }
        let shown = bytes.getSlice(at: bytes.readerIndex, length: min(bytes.readableBytes, 1 << 20)) ?? bytes
        switch BodyPreview(shown, contentType: nil).content {
        case .empty: return ["(empty)"]
        case .text(let text, _):
            return text.split(omittingEmptySubsequences: false, whereSeparator: \.isLineEnd).map(String.init)
        case .binary(let description): return ["(\(description))"]
        }
    }
}
