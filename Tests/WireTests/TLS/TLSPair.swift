import HTTPModel
import NIOCore
import Support
import Wire

/// A root, a mint and both contexts: what the TLS tests begin with.
///
/// Everything is minted anew, nothing is stored.
struct TLSFixture {
    var authority: CertificateAuthority
    var mint: CertificateMint
    var server: TLSServerContext
    var client: TLSClientContext

    init(
        ticketKeys: TLSTicketKeys = TLSTicketKeys(),
        trusted: Bool = true,
        distrusted: (CertificateAuthority) -> DistrustedKeys = { _ in .compromised },
        serverKeyLog: TLSKeyLog? = nil,
        clientKeyLog: TLSKeyLog? = nil
    ) throws {
        authority = try CertificateAuthority.generate(label: "test")
        mint = try CertificateMint(authority: authority, leafKey: LeafKey())
        server = try TLSServerContext(ticketKeys: ticketKeys, keyLog: serverKeyLog)
        let directory = try Scratch()
        defer { directory.remove() }
        let file = try directory.write("root.pem", Array(authority.certificatePEM.utf8))
        let trust = TLSTrust(
            includesSystem: false,
            extraFiles: trusted ? [file] : [],
            distrusted: distrusted(authority)
        )
        try trust.load()
        client = try TLSClientContext(trust: trust, keyLog: clientKeyLog)
    }

    /// A client and a server for `host`; the server shows a certificate for `shown`.
    func pair(
        host: String = "www.example.com",
        shown: String? = nil,
        offered: [String] = ["http/1.1"],
        accepted: [String] = ["http/1.1"],
        verification: TLSVerification = .full,
        isLegacy: Bool = false,
        resumptionKey: String? = nil
    ) throws -> TLSPair {
        TLSPair(
            client: try client.makeSession(
                host: host,
                applicationProtocols: offered,
                verification: verification,
                isLegacy: isLegacy,
                resumptionKey: resumptionKey
            ),
            server: try server.makeSession(
                certificate: mint.certificate(for: shown ?? host),
                host: host,
                applicationProtocols: accepted
            )
        )
    }
}

/// A client and a server session joined in memory.
struct TLSPair {
    var client: TLSSession
    var server: TLSSession
    var atClient = ByteBuffer()
    var atServer = ByteBuffer()

    /// Moves ciphertext to and fro, in pieces of at most `pieces` bytes, until both sides are quiet.
    mutating func run(pieces: Int = .max) {
        _ = client.advance(into: &atClient)
        var moved = true
        while moved {
            moved = false
            for (from, to, isToServer) in [(client, server, true), (server, client, false)] {
                guard var output = from.takeOutput() else { continue }
                moved = true
                while let piece = output.readSlice(length: min(pieces, output.readableBytes)),
                    piece.readableBytes > 0
                {
                    to.receive(piece)
                    drain(isToServer)
                }
            }
        }
    }

    private mutating func drain(_ isServer: Bool) {
        if isServer {
            while server.advance(into: &atServer) == .limitReached {}
        } else {
            while client.advance(into: &atClient) == .limitReached {}
        }
    }
}

extension TLSState {
    var failure: TLSError? {
        if case .failed(let failure) = self { failure } else { nil }
    }
}
