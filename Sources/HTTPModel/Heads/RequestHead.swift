package import NIOCore

/// A request's head: method, target and fields as received, and whatever was changed since.
package struct RequestHead: MessageHead {
    private var methodRun: FieldSection.Run
    private var targetRun: FieldSection.Run
    /// The version in the request line, or of the connection for HTTP/2.
    package var version: HTTPVersion { didSet { fields.revision &+= 1 } }
    package var fields: FieldSection

    /// Creates a head from received bytes: a section over the whole head, start line and final empty line included, to
    /// which the parser has added the field lines; `method` and `target` are offsets into those bytes.
    package init(received: FieldSection, method: Range<Int>, target: Range<Int>, version: HTTPVersion) {
        fields = received
        methodRun = .init(method)
        targetRun = .init(target)
        self.version = version
    }

    package init(method: String, target: String, version: HTTPVersion = .http11, fields: [(String, String)] = []) {
        var section = FieldSection()
        methodRun = section.store(method.utf8)
        targetRun = section.store(target.utf8)
        for (name, value) in fields { section.append(name, value) }
        self.fields = section
        self.version = version
        self.fields.revision &+= 1
    }

    /// The method, for example `GET`; any token (RFC 9110 §9.1).
    package var method: String {
        get { fields.text(methodRun) }
        set {
            methodRun = fields.store(newValue.utf8)
            fields.revision &+= 1
        }
    }

    /// The request target as it is in the request line (RFC 9112 §3.2), as text.
    package var target: String {
        get { fields.text(targetRun) }
        set { setTarget(newValue.utf8) }
    }

    /// The request target's bytes.
    package var targetBytes: ByteBufferView { fields.view(targetRun) }

    /// The target as a server gets it (RFC 9112 §3.2): that in absolute form without scheme and authority, byte for byte.
    package var originTarget: [UInt8] {
        let target = Array(targetBytes)
        guard target.first != UInt8(ascii: "/"), let colon = target.firstIndex(of: UInt8(ascii: ":")),
            target[colon...].starts(with: "://".utf8)
        else { return target }
        let rest = target[(colon + 3)...]
        guard let end = rest.firstIndex(where: { "/?#".utf8.contains($0) }) else {
            // OPTIONS of a whole server has the asterisk form.
            return Array((method == "OPTIONS" ? "*" : "/").utf8)
        }
        return (target[end] == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + target[end...]
    }

    /// Replaces the request target.
    package mutating func setTarget(_ bytes: some Collection<UInt8>) {
        targetRun = fields.store(Array(bytes))
        fields.revision &+= 1
    }

    /// Narrows the target to a part of itself: absolute form to origin form (RFC 9112 §3.2.1) without a copy.
    package mutating func dropTargetPrefix(_ count: Int) {
        let count = min(UInt32(count), targetRun.count)
        targetRun.start += count
        targetRun.count -= count
        fields.revision &+= 1
    }

    package func write(into output: inout ByteBuffer) {
        output.writeBytes(fields.view(methodRun))
        output.writeInteger(UInt8(ascii: " "))
        output.writeBytes(fields.view(targetRun))
        output.writeInteger(UInt8(ascii: " "))
        output.writeString(version.description)
        output.writeStaticString("\r\n")
        fields.write(into: &output)
        output.writeStaticString("\r\n")
    }
}
