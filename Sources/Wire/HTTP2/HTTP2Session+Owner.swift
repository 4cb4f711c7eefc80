public import HTTPModel
public import NIOCore

/// What an owner asks for beside events and output.
extension HTTP2Session {
    /// Whether there are events to take.
    public var hasEvents: Bool { !events.isEmpty || !takenEvents.isEmpty }

    /// The text form that a response's head is sent in, for one that is to be sent later.
    public static func text(of head: ResponseHead) -> ByteBuffer {
        HTTP2HeadWriter(head).text
    }
}
