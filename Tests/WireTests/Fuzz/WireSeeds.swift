import NIOCore
import Support

/// Inputs that reach most of what a session does, for the fuzzer's corpus and for the tests.
enum WireSeeds {
    /// For ``HTTP2FeedProbe``: the server's side with a first decision that is even, the client's with an odd one.
    static var http2Feed: [[UInt8]] {
        let server = [requests, bodies, resets, extras, malformed]
        let client = [responses, serverExtras]
        let decisions: [[UInt8]] = [
            [], [0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 0, 1, 1, 3, 7, 7, 7, 2, 2, 0],
            [0, 2, 1, 0, 0, 0, 8, 4],
        ]
        return server.flatMap { bytes in decisions.map { FuzzInput.made(bytes, $0) } }
            + client.flatMap { bytes in decisions.map { FuzzInput.made(bytes, [1] + $0.dropFirst() + [3, 0, 1, 2]) } }
    }

    /// For ``HPACKProbe``.
    static var hpack: [[UInt8]] {
        let blocks: [[UInt8]] = [
            FuzzFrames.block([
                ("accept", "*/*"), ("user-agent", "fuzz/1"), ("cookie", "a=b"), ("cookie", "c=d"), ("x-empty", ""),
            ]),
            [0x82, 0x87, 0x84, 0x41, 0x01, 0x61] + FuzzFrames.block([("te", "trailers"), ("content-length", "5")]),
            // Indexed, with incremental indexing, never indexed, a change of the table's size, Huffman coding.
            [
                0x3F, 0xE1, 0x1F, 0x82, 0x86, 0x84, 0x41, 0x8C, 0xF1, 0xE3, 0xC2, 0xE5, 0xF2, 0x3A, 0x6B, 0xA0, 0xAB,
                0x90,
            ]
                + [0xF4, 0xFF, 0x58, 0x86, 0xA8, 0xEB, 0x10, 0x64, 0x9C, 0xBF, 0xBE, 0x10, 0x01, 0x78, 0x01, 0x79],
            FuzzFrames.block([(":method", "CONNECT"), (":authority", "a.example:443")]),
            FuzzFrames.block(
                [(":method", "CONNECT"), (":scheme", "https"), (":path", "/chat"), (":authority", "a.example")]
                    + [(":protocol", "websocket"), ("sec-websocket-version", "13")]
            ),
            FuzzFrames.block([(":method", "OPTIONS"), (":scheme", "https"), (":path", "*"), ("host", "a.example")]),
            FuzzFrames.block([
                (":status", "200"), ("content-type", "text/plain"), ("set-cookie", "a"), ("x-odd", "a\u{7F}"),
            ]),
            FuzzFrames.block([(":status", "103"), ("link", "</a>")]),
            [0x88, 0x40] + FuzzFrames.literal(Array("x-long".utf8))
                + FuzzFrames.literal([UInt8](repeating: 0x61, count: 120)) + [0xBE, 0xBE],
        ]
        let decisions: [[UInt8]] = [
            [0], [1], [0, 0, 0, 3, 9, 0, 0, 1, 1, 20, 2], [1, 0, 0, 3, 30, 0, 1, 1, 2, 3, 1, 1],
        ]
        return blocks.flatMap { bytes in decisions.map { FuzzInput.made(bytes, $0) } }
    }

    private static func bytes(_ build: (inout FuzzFrames) -> Void) -> [UInt8] {
        var frames = FuzzFrames()
        frames.add(.settings)
        frames.add(.settings, flags: FuzzFrames.acknowledgement)
        build(&frames)
        return Array(frames.bytes.readableBytesView)
    }

    private static var requests: [UInt8] {
        bytes { frames in
            frames.request(on: 1)
            frames.request(on: 3, [("content-length", "2")], isEnd: false)
            frames.data("hi", on: 3, isEnd: true)
            frames.request(on: 5, isEnd: false)
            frames.add(.windowUpdate, on: 1, FuzzFrames.big(1000 as UInt32))
        }
    }

    private static var bodies: [UInt8] {
        bytes { frames in
            frames.settings([(4, 20)])
            frames.request(isEnd: false)
            frames.data(String(repeating: "x", count: 90))
            frames.add(.data, flags: FuzzFrames.padded, on: 1, [3, 0x61, 0, 0, 0])
            frames.add(.windowUpdate, on: 1, FuzzFrames.big(70_000 as UInt32))
            frames.add(.windowUpdate, on: 0, FuzzFrames.big(70_000 as UInt32))
            frames.head([("x-sum", "1")])
        }
    }

    private static var resets: [UInt8] {
        bytes { frames in
            frames.request(on: 1, isEnd: false)
            frames.add(.resetStream, on: 1, FuzzFrames.big(8 as UInt32))
            frames.request(on: 3)
            frames.add(.resetStream, on: 3, FuzzFrames.big(0 as UInt32))
            frames.add(.goAway, on: 0, FuzzFrames.big(1 as UInt32) + FuzzFrames.big(0 as UInt32) + Array("bye".utf8))
        }
    }

    private static var extras: [UInt8] {
        bytes { frames in
            frames.add(.ping, [1, 2, 3, 4, 5, 6, 7, 8])
            frames.add(.priority, on: 1, FuzzFrames.big(0 as UInt32) + [16])
            frames.add(.unknown, on: 0, [1])
            frames.settings([(1, 0), (3, 5), (4, 0), (5, 20_000), (6, 100), (8, 1)])
            let block = FuzzFrames.block(FuzzFrames.pseudo)
            frames.add(.headers, flags: FuzzFrames.endStream, on: 1, Array(block.prefix(7)))
            frames.add(.continuation, flags: FuzzFrames.endHeaders, on: 1, Array(block.dropFirst(7)))
            frames.head(
                on: 3,
                [
                    (":method", "CONNECT"), (":scheme", "https"), (":path", "/"), (":authority", "a"),
                    (":protocol", "x"),
                ],
                isEnd: false
            )
            frames.data("abc", on: 3)
        }
    }

    private static var malformed: [UInt8] {
        bytes { frames in
            frames.head(on: 1, [(":method", "GET"), ("Upper", "1")])
            frames.request(on: 3, [("content-length", "9")])
            frames.request(on: 5, [("host", "b.example")])
            frames.request(on: 7, [("x", String(repeating: "y", count: 400))])
            frames.add(.windowUpdate, on: 3, FuzzFrames.big(0 as UInt32))
            frames.data("late", on: 1)
        }
    }

    private static var responses: [UInt8] {
        bytes { frames in
            frames.settings([(3, 10), (8, 1)])
            frames.head(on: 1, [(":status", "103"), ("link", "</a>")], isEnd: false)
            frames.head(on: 1, FuzzFrames.response + [("x-a", "b\u{1}")], isEnd: false)
            frames.data(String(repeating: "z", count: 50))
            frames.head(on: 1, [("grpc-status", "0")])
            frames.head(on: 3, FuzzFrames.response)
            frames.add(.resetStream, on: 5, FuzzFrames.big(7 as UInt32))
        }
    }

    private static var serverExtras: [UInt8] {
        bytes { frames in
            frames.head(on: 1, FuzzFrames.response, isEnd: false)
            frames.add(.windowUpdate, on: 0, FuzzFrames.big(100_000 as UInt32))
            frames.add(
                .goAway,
                on: 0,
                FuzzFrames.big(1 as UInt32) + FuzzFrames.big(2 as UInt32) + Array("restart".utf8)
            )
            frames.data("last", isEnd: true)
            frames.add(.pushPromise, flags: FuzzFrames.endHeaders, on: 1, FuzzFrames.big(2 as UInt32) + [0x82])
        }
    }
}
