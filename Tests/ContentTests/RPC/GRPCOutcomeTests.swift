import Content
import HTTPModel
import NIOCore
import Testing

@Suite("gRPC outcome")
struct GRPCOutcomeTests {
    private func outcome(_ lines: String) -> GRPCOutcome? {
        GRPCOutcome(StoredHead.fields(ByteBuffer(string: lines)))
    }

    @Test("Status and message are read from trailers, whatever the case of the names")
    func readsTrailers() throws {
        let found = try #require(outcome("Grpc-Status: 14\r\ngrpc-message: no%20route\r\n"))
        #expect(found == GRPCOutcome(status: 14, message: "no route"))
        #expect(found.name == "UNAVAILABLE")
        #expect(outcome("grpc-status:0\r\n") == GRPCOutcome(status: 0))
        #expect(outcome("grpc-status: 99\r\n")?.name == nil)
    }

    @Test(
        "Without a number there is no outcome",
        arguments: [
            "", "grpc-message: x\r\n", "grpc-status: \r\n", "grpc-status: -1\r\n", "grpc-status: +1\r\n",
            "grpc-status: two\r\n", "grpc-status: 99999999999999999999\r\n",
        ]
    )
    func needsNumber(_ lines: String) {
        #expect(outcome(lines) == nil)
    }

    @Test(
        "Percent-encoding is undone, broken escapes stay",
        arguments: [
            ("", ""), ("plain", "plain"), ("a%2Fb%2fc", "a/b/c"), ("%E2%98%83 snow", "☃ snow"), ("100%", "100%"),
            ("%2", "%2"), ("%zz%41", "%zzA"), ("%%41", "%A"), ("%F0%9F", "\u{FFFD}"), ("%0A", "\n"),
        ]
    )
    func decodesMessages(_ encoded: String, _ decoded: String) {
        #expect(GRPCOutcome.percentDecoded(encoded.utf8) == decoded)
    }
}
