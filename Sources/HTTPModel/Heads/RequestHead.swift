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
        (self.fields, self.version) = (section, version)
        self.fields.revision &+= 1
    }

    /// Any token (RFC 9110 §9.1).
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

    package var targetBytes: ByteBufferView { fields.view(targetRun) }

    /// The target as a server gets it (RFC 9112 §3.2): that in absolute form without scheme and authority, byte for byte.
    package var originTarget: [UInt8] {
        var head = self
        head.makeOriginForm()
        return Array(head.targetBytes)
    }

    /// Makes a target in absolute form the origin form (RFC 9112 §3.2.1), byte for byte; another one stays as it is.
    ///
    /// - Returns: the bytes of the authority that were cut off; none where there was none.
    @discardableResult
    package mutating func makeOriginForm() -> ByteBufferView {
        let bytes = targetBytes
        guard bytes.first != UInt8(ascii: "/"), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        else { return bytes.prefix(0) }
        let start = colon + 3
        let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        if end == bytes.endIndex {
            // RFC 9112 §3.2.4: OPTIONS of a whole server has the asterisk form.
            target = method == "OPTIONS" ? "*" : "/"
        } else if bytes[end] == UInt8(ascii: "/") {
            dropTargetPrefix(end - bytes.startIndex)
        } else {
            setTarget([UInt8(ascii: "/")] + bytes[end...])
        }
        return bytes[start..<end]
    }

    package mutating func setTarget(_ bytes: some Collection<UInt8>) {
        targetRun = fields.store(Array(bytes))
        fields.revision &+= 1
    }

    /// Removes the beginning of the target, without a copy.
    private mutating func dropTargetPrefix(_ count: Int) {
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

extension RequestHead {
    /// Whether sending the request twice has the effect of sending it once (RFC 9110 §9.2.2).
    package var isIdempotent: Bool {
        // The most frequent ones need no table.
        switch method {
        case "GET", "HEAD": true
        case "POST": false
        default: RequestHead.idempotentMethods.contains(method)
        }
    }

    /// As in IANA's registry.
    private static let idempotentMethods: Set = [
        "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "DELETE", "GET", "HEAD", "LABEL", "LINK",
        "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "OPTIONS", "ORDERPATCH",
        "PRI", "PROPFIND", "PROPPATCH", "PUT", "QUERY", "REBIND", "REPORT", "SEARCH", "TRACE", "UNBIND", "UNCHECKOUT",
        "UNLINK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ]
}
