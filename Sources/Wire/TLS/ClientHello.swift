package import NIOCore

/// The first message of a TLS client (RFC 8446 section 4.1.2), as far as it matters to a proxy.
package struct ClientHello: Sendable, Hashable {
    /// As sent (RFC 6066 section 3); `nil` if there is none.
    package var serverName: String?
    /// By ALPN (RFC 7301), in the client's order; `nil` if the extension is missing.
    package var alpnProtocols: [String]?
    /// In the client's order, without GREASE values (RFC 8701); 0x0304 is TLS 1.3.
    package var supportedVersions: [UInt16] = []
    /// Whether the client accepts a certificate with an ECDSA key on the curve P-256; if not, it needs RSA.
    package var acceptsECDSA = true

    package enum ParseResult: Sendable, Hashable {
        case needMoreData
        /// Not a well-formed ClientHello.
        case notTLS
        case hello(ClientHello)
    }

    /// In bytes with record headers.
    package static let maximumLength = 65_536
    /// Limited because all records are read again for each new byte.
    package static let mostRecords = 2_048

    /// Reads the first bytes of a connection without consuming any; a wrong first byte is ``ParseResult/notTLS``.
    package static func parse(_ bytes: ByteBuffer) -> ParseResult {
        bytes.withUnsafeReadableBytes { raw in
            var records = Cursor(raw)
            var message: [UInt8] = []
            for _ in 0..<mostRecords {
                switch nextFragment(of: &records) {
                case .incomplete(let fragment):
                    // Type and size are known before the record is complete.
                    let isTooLong = raw.count >= maximumLength
                    return isTooLong || isHopeless(message.prefix(4) + fragment.prefix(4)) ? .notTLS : .needMoreData
                case .invalid: return .notTLS
                case .fragment(let fragment):
                    if message.isEmpty, let length = messageLength(fragment), fragment.count >= 4 + length {
                        return isHopeless(fragment.prefix(4)) ? .notTLS : readHello(fragment.prefix(4 + length))
                    }
                    message.append(contentsOf: fragment)
                    if isHopeless(message.prefix(4)) { return .notTLS }
                    if let length = message.withUnsafeBytes({ messageLength($0[...]) }), message.count >= 4 + length {
                        return message.withUnsafeBytes { readHello($0.prefix(4 + length)) }
                    }
                }
            }
            return .notTLS
        }
    }
}

private typealias Bytes = Slice<UnsafeRawBufferPointer>

private struct Cursor {
    private var rest: Bytes

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }
    init(_ bytes: Bytes) { rest = bytes }

    var isEmpty: Bool { rest.isEmpty }
    var remaining: Bytes { rest }

    mutating func take(_ count: Int) -> Bytes? {
        guard count <= rest.count else { return nil }
        let taken = rest.prefix(count)
        rest = rest.dropFirst(count)
        return taken
    }

    mutating func integer(bytes count: Int) -> Int? { take(count)?.reduce(0) { $0 << 8 | Int($1) } }

    var numbers: [UInt16] {
        stride(from: rest.startIndex, to: rest.endIndex - 1, by: 2).map { UInt16(rest[$0]) << 8 | UInt16(rest[$0 + 1]) }
    }

    mutating func vector(lengthBytes: Int) -> Cursor? {
        integer(bytes: lengthBytes).flatMap { take($0) }.map { Cursor($0) }
    }
}

private enum Fragment {
    case incomplete(Bytes)
    case invalid
    case fragment(Bytes)
}

/// Reads one handshake record (RFC 8446 section 5.1).
private func nextFragment(of records: inout Cursor) -> Fragment {
    let start = records.remaining
    let header = Array(start.prefix(5))
    let nothing = start.prefix(0)
    if let type = header.first, type != 22 { return .invalid }
    // Servers accept any version (RFC 8446 §5.1).
    guard header.count == 5 else { return .incomplete(nothing) }
    let length = Int(header[3]) << 8 | Int(header[4])
    // Empty handshake records are forbidden; 2^14 is the longest plaintext record.
    guard (1...16_384).contains(length) else { return .invalid }
    _ = records.take(5)
    guard let fragment = records.take(length) else { return .incomplete(records.remaining) }
    return .fragment(fragment)
}

/// Whether these first bytes cannot be those of a ClientHello of an accepted length.
private func isHopeless(_ start: some Sequence<UInt8>) -> Bool {
    let header = Array(start.prefix(4))
    if let type = header.first, type != 1 { return true }
    guard header.count == 4 else { return false }
    let length = Int(header[1]) << 16 | Int(header[2]) << 8 | Int(header[3])
    return length > ClientHello.maximumLength
}

private func messageLength(_ message: Bytes) -> Int? {
    var cursor = Cursor(message)
    _ = cursor.integer(bytes: 1)
    return cursor.integer(bytes: 3)
}

private func readHello(_ message: Bytes) -> ClientHello.ParseResult {
    var cursor = Cursor(message.dropFirst(4))
    guard let version = cursor.integer(bytes: 2),
        cursor.take(32) != nil,
        cursor.vector(lengthBytes: 1) != nil,  // session identifier
        let suites = cursor.vector(lengthBytes: 2)?.numbers,  // cipher suites
        cursor.vector(lengthBytes: 1) != nil  // compression methods
    else { return .notTLS }
    var hello = ClientHello(supportedVersions: [UInt16(version)])
    var (algorithms, groups): ([UInt16]?, [UInt16]?)
    // A hello without extensions ends here (RFC 5246 section 7.4.1.2).
    if cursor.isEmpty {
        hello.acceptsECDSA = acceptsECDSA(hello, suites, nil, nil)
        return .hello(hello)
    }
    guard var extensions = cursor.vector(lengthBytes: 2), cursor.isEmpty else { return .notTLS }
    while !extensions.isEmpty {
        guard let type = extensions.integer(bytes: 2), var content = extensions.vector(lengthBytes: 2) else {
            return .notTLS
        }
        let isWellFormed =
            switch type {
            case 0: readServerName(&content, into: &hello)
            case 10: readNumbers(&content, into: &groups)
            case 13: readNumbers(&content, into: &algorithms)
            case 16: readProtocols(&content, into: &hello)
            case 43: readVersions(&content, into: &hello)
            default: true
            }
        if !isWellFormed { return .notTLS }
    }
    hello.acceptsECDSA = acceptsECDSA(hello, suites, algorithms, groups)
    return .hello(hello)
}

/// Whether a client with this offer accepts an ECDSA key on the curve P-256.
private func acceptsECDSA(
    _ hello: ClientHello,
    _ suites: [UInt16],
    _ algorithms: [UInt16]?,
    _ groups: [UInt16]?
) -> Bool {
    // 0x0403 is ecdsa_secp256r1_sha256. In TLS 1.2 a second byte of 3 is ECDSA on any curve.
    if hello.supportedVersions.contains(0x0304), suites.contains(where: { $0 >> 8 == 0x13 }) {
        return algorithms?.contains(0x0403) ?? true
    }
    guard suites.contains(where: isECDSASuite), groups?.contains(23) ?? true else { return false }
    return algorithms?.contains { $0 & 0xFF == 3 && $0 >> 8 <= 6 } ?? true
}

/// ECDHE_ECDSA of TLS 1.0 to 1.2 (IANA).
private func isECDSASuite(_ suite: UInt16) -> Bool {
    switch suite {
    case 0xC006...0xC00A, 0xC023...0xC024, 0xC02B...0xC02C, 0xC048...0xC049, 0xC05C...0xC05D, 0xC072...0xC073,
        0xC086...0xC087, 0xC0AC...0xC0AF, 0xCCA9:
        true
    default: false
    }
}

private func readNumbers(_ content: inout Cursor, into numbers: inout [UInt16]?) -> Bool {
    guard let list = content.vector(lengthBytes: 2) else { return false }
    numbers = list.numbers
    return true
}

private func readServerName(_ content: inout Cursor, into hello: inout ClientHello) -> Bool {
    guard var names = content.vector(lengthBytes: 2) else { return false }
    while !names.isEmpty {
        guard let type = names.integer(bytes: 1), let name = names.vector(lengthBytes: 2) else { return false }
        if type == 0, hello.serverName == nil, !name.isEmpty {
            hello.serverName = String(decoding: name.remaining, as: UTF8.self)
        }
    }
    return true
}

private func readProtocols(_ content: inout Cursor, into hello: inout ClientHello) -> Bool {
    guard var names = content.vector(lengthBytes: 2) else { return false }
    var protocols: [String] = []
    while !names.isEmpty {
        guard let name = names.vector(lengthBytes: 1), !name.isEmpty else { return false }
        protocols.append(String(decoding: name.remaining, as: UTF8.self))
    }
    hello.alpnProtocols = protocols
    return true
}

private func readVersions(_ content: inout Cursor, into hello: inout ClientHello) -> Bool {
    guard var versions = content.vector(lengthBytes: 1) else { return false }
    var offered: [UInt16] = []
    while !versions.isEmpty {
        guard let version = versions.integer(bytes: 2) else { return false }
        let isGREASE = version & 0x0F0F == 0x0A0A && version >> 8 == version & 0xFF
        if !isGREASE { offered.append(UInt16(version)) }
    }
    hello.supportedVersions = offered
    return true
}
