import DequeModule
import HTTPModel
import NIOCore

/// A held message: its head waits first, followed by its body if a whole-body hook holds it.
extension MessageFlow {
    /// The held message, with its body if the body is held, too.
    var held: (Head, ByteBuffer?)? {
        guard isHeld, let first = waiting.first, case .head(let head, _) = first.item else { return nil }
        guard first.progress == .wholeHooked, !head.beginsTunnel else { return (head, nil) }
        if waiting.count > 1, case .part(let body) = waiting[1].item { return (head, body) }
        return (head, ByteBuffer())
    }

    mutating func replaceHeld(head: Head, body: ByteBuffer?) {
        guard isHeld, let first = waiting.first, case .head(_, var framing) = first.item else { return }
        if first.progress == .wholeHooked, !head.beginsTunnel, let body {
            let oldBody: ByteBuffer
            var share: ByteShare?
            if waiting.count > 1, case .part(let part) = waiting[1].item {
                oldBody = part
                share = waiting.remove(at: 1).share
            } else {
                oldBody = ByteBuffer()
            }
            if body != oldBody {
                framing = holdsTrailers ? .chunked : .length(Int64(body.readableBytes))
                bodyMayChange = true
            }
            if body.readableBytes > 0 {
                waiting.insert(Waiting(item: .part(body), next: first.next + 1, share: share), at: 1)
            }
        }
        waiting[0].item = .head(head, framing)
        isChanged = true
    }

    private var holdsTrailers: Bool {
        guard case .end(let trailers?)? = waiting.last?.item else { return false }
        return !trailers.isEmpty
    }
}
