package import NIOCore

package struct RequestHead: MessageHead {
    private var methodRun: FieldSection.Run
    private var targetRun: FieldSection.Run
    /// For HTTP/2, the version of the connection.
    package var version: HTTPVersion { didSet { fields.revision &+= 1 } }
    package var fields: FieldSection

    /// `received` covers the whole head, with the field lines added; `method` and `target` are offsets into its bytes.
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

    package var method: String {
        get { fields.text(methodRun) }
        set {
            methodRun = fields.store(newValue.utf8)
            fields.revision &+= 1
        }
    }

    /// As in the request line (RFC 9112 §3.2).
    package var target: String {
        get { fields.text(targetRun) }
        set { setTarget(newValue.utf8) }
    }

    package var targetBytes: ByteBufferView { fields.view(targetRun) }

    /// The target without scheme and authority (RFC 9112 §3.2).
    package var originTarget: [UInt8] {
        var head = self
        head.makeOriginForm()
        return Array(head.targetBytes)
    }

    /// Changes an absolute target into the origin form (RFC 9112 §3.2.1), and returns the removed authority.
    @discardableResult
    package mutating func makeOriginForm() -> ByteBufferView {
        let bytes = targetBytes
        let authority: Range<Int>? = bytes.withUnsafeBytes { bytes in
            guard bytes.first != UInt8(ascii: "/"), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
                bytes[colon...].starts(with: "://".utf8)
            else { return nil }
            let rest = bytes[(colon + 3)...]
            let isEnd = { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
            return rest.startIndex..<(rest.firstIndex(where: isEnd) ?? rest.endIndex)
        }
        guard let authority else { return bytes.prefix(0) }
        let end = bytes.startIndex + authority.upperBound
        if end == bytes.endIndex {
            // RFC 9112 §3.2.4: OPTIONS for a whole server.
            target = method == "OPTIONS" ? "*" : "/"
        } else if bytes[end] == UInt8(ascii: "/") {
            dropTargetPrefix(end - bytes.startIndex)
        } else {
            setTarget([UInt8(ascii: "/")] + bytes[end...])
        }
        return bytes[(bytes.startIndex + authority.lowerBound)..<end]
    }

    package mutating func setTarget(_ bytes: some Collection<UInt8>) {
        targetRun = fields.store(Array(bytes))
        fields.revision &+= 1
    }

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
    /// RFC 9110 §9.2.2.
    package var isIdempotent: Bool {
        switch method {
        case "GET", "HEAD": true
        case "POST": false
        default: RequestHead.idempotentMethods.contains(method)
        }
    }

    private static let idempotentMethods: Set = [
        "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "DELETE", "GET", "HEAD", "LABEL", "LINK",
        "MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "OPTIONS", "ORDERPATCH",
        "PRI", "PROPFIND", "PROPPATCH", "PUT", "QUERY", "REBIND", "REPORT", "SEARCH", "TRACE", "UNBIND", "UNCHECKOUT",
        "UNLINK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    ]
}
