import HTTPModel
import NIOCore
import Support
import Wire

/// Reads bytes as those of a client of SOCKS: whole, in pieces and one by one, which must come to the same; what is read
/// must be a place that can be asked for.
enum SOCKSProbe {
    private struct Reading: Equatable {
        var events: [SOCKS5Reader.Event] = []
        var failure: SOCKS5Reader.Failure?
        var rest: [UInt8] = []
    }

    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        let asksWho = input.decide() & 1 == 1
        let pieces = input.pieces(of: input.bytes)
        let whole = read([input.bytes], asksWho)
        try demand(read(pieces, asksWho) == whole, "pieces \(pieces) are read otherwise than the whole")
        try demand(read(input.bytes.map { [$0] }, asksWho) == whole, "bytes are read otherwise than the whole")
        try demand(whole.events.count <= 3, "\(whole.events.count) messages")
        for case .request(let command, let place) in whole.events {
            try demand(!place.host.isEmpty && (0...65_535).contains(place.port), "\(place)")
            try demand(command != .connect || place.port > 0, "port 0")
            guard place.port > 0 else { continue }
            let (host, port) = RequestURL.splitAuthority(place.authority) ?? ("", nil)
            // A name may end in something that only looks like an address with a zone.
            try demand(host == place.host && port == place.port, "\(place) is read again as \(host) \(port ?? 0)")
        }
    }

    private static func read(_ pieces: [[UInt8]], _ asksWho: Bool) -> Reading {
        var reader = SOCKS5Reader()
        var reading = Reading()
        do throws(SOCKS5Reader.Failure) {
            for piece in pieces {
                reader.receive(ByteBuffer(bytes: piece))
                while let event = try reader.next() {
                    reading.events.append(event)
                    if asksWho, case .greeting = event { reader.expectCredentials() }
                }
            }
            reading.rest = reader.takeRest().map { Array(buffer: $0) } ?? []
        } catch {
            reading.failure = error
        }
        return reading
    }
}

/// What clients of SOCKS send, for the fuzzer's corpus.
enum SOCKSSeeds {
    private static let name = Array("api.example.com".utf8)

    static let all: [[UInt8]] = [
        [5, 1, 0, 5, 1, 0, 1, 10, 0, 0, 1, 1, 187, 22, 3, 1],
        [5, 2, 0, 2, 5, 1, 0, 3, 15] + name + [1, 187],
        [5, 1, 2, 1, 3, 97, 100, 97, 2, 112, 119, 5, 1, 0, 4] + [UInt8](repeating: 0, count: 15) + [1, 0, 80],
        [5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0],
        [5, 1, 0, 5, 2, 0, 3, 3, 58, 58, 49, 0, 80],
        [4, 1, 0, 80, 0, 0, 0, 1, 0],
    ].flatMap { [FuzzInput.made($0, [0]), FuzzInput.made($0, [1, 3, 2, 1])] }
}
