import Content
import NIOCore
import Text

/// Two bodies compared: JSON by what it means, other text by lines, anything else by its bytes.
struct BodyDifference {
    let old: LoadedBody
    let new: LoadedBody

    var isSame: Bool { old.bytes == new.bytes && old.recordedSize == new.recordedSize }

    func write(into writer: inout DetailWriter) {
        for failure in [old.failure, new.failure].compactMap({ $0 }) {
            writer.add("The body cannot be read: \(failure)", .failure)
        }
        if old.bytes == new.bytes {
            writer.add(old.bytes.readableBytes == 0 ? "There is none." : "The body is the same.", .faint)
            return
        }
        if old.isCut || new.isCut {
            writer.leaveOut("Only the first \(Measures.size(Int64(writer.options.bodyLimit))) of bodies are compared.")
        }
        if let before = tree(old), let after = tree(new) {
            var difference = JSONDifference(before, after)
            difference.write(into: &writer)
        } else if let before = text(old), let after = text(new) {
            LineDifference(old: before, new: after).write(into: &writer)
        } else {
            binary(&writer)
        }
    }

    private func tree(_ body: LoadedBody) -> JSONTree? {
        guard !body.isCut, body.bytes.readableBytes > 0, let text = body.text?.text,
            body.mediaType?.isJSON == true || text.utf8.first == UInt8(ascii: "{")
        else { return nil }
        return try? JSONTree(Array(text.utf8))
    }

    private func text(_ body: LoadedBody) -> String? {
        body.bytes.readableBytes == 0 ? "" : body.text?.text
    }

    private func binary(_ writer: inout DetailWriter) {
        let sizes = [old, new].map { Measures.size(Int64($0.bytes.readableBytes)) }
        writer.add([
            Span("~ ", .changed), Span(sizes[0], .removed), Span(" \(writer.arrow) ", .punctuation),
            Span(sizes[1], .added),
        ])
        let place = zip(old.bytes.readableBytesView, new.bytes.readableBytesView).enumerated()
            .first { $0.element.0 != $0.element.1 }?.offset
        let first = place ?? min(old.bytes.readableBytes, new.bytes.readableBytes)
        writer.add("The bytes differ from offset \(first.grouped) on.", .faint)
    }
}
