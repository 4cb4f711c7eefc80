import Content
import HTTPModel
import NIOCore

struct DemoRequest {
    let head: RequestHead
    private(set) var body = ByteBuffer()
    private(set) var bodySize = 0
    private(set) var checksum = CRC32()

    private static let bodyLimit = 16_384

    mutating func add(_ part: ByteBuffer) {
        bodySize += part.readableBytes
        checksum.add(part)
        let room = min(part.readableBytes, DemoRequest.bodyLimit - body.readableBytes)
        body.writeBytes(part.readableBytesView.prefix(room))
    }
}

struct DemoAnswer {
    var status = 200
    var fields: [(String, String)] = []
    var pieces: [ByteBuffer] = []
    var isChunked = false
    var trailers: FieldSection?
    var delay = Duration.zero
    var pause = Duration.zero

    var head: ResponseHead { ResponseHead(status: status, fields: [("Server", "sluice-demo")] + fields) }

    var framing: BodyFraming { isChunked ? .chunked : .length(pieces.reduce(0) { $0 + Int64($1.readableBytes) }) }

    static func whole(_ type: String, _ body: ByteBuffer, status: Int = 200) -> DemoAnswer {
        DemoAnswer(status: status, fields: [("Content-Type", type)], pieces: [body])
    }

    static func text(_ type: String, _ text: String, status: Int = 200) -> DemoAnswer {
        whole("\(type); charset=utf-8", ByteBuffer(string: text), status: status)
    }

    func adding(_ name: String, _ value: String) -> DemoAnswer {
        var answer = self
        answer.fields.append((name, value))
        return answer
    }
}

enum DemoRoutes {
    static func answer(_ request: DemoRequest) throws -> DemoAnswer {
        let path = request.head.target.prefix { $0 != "?" }
        switch (request.head.method, path) {
        case ("GET", "/api/products"):
            return .text("application/json", DemoContent.products())
                .adding("Set-Cookie", "basket=b-1787; Path=/; HttpOnly")
                .adding("Set-Cookie", "theme=dark; Path=/; Max-Age=3600")
        case ("POST", "/api/orders"): return order(request)
        case ("GET", "/old-page"):
            return .text("text/plain", "It has moved.\n", status: 302).adding("Location", "/new-page?from=old-page")
        case ("GET", "/new-page"):
            return .text("text/html", DemoContent.page(title: "Here it is", text: "The redirect led to this page."))
        case ("GET", "/api/articles"):
            let body = ByteBuffer(string: DemoContent.articles())
            return .whole("application/json", try ContentEncoder.encode(body, coding: .gzip))
                .adding("Content-Encoding", "gzip")
                .adding("Vary", "Accept-Encoding")
        case ("GET", "/water.png"):
            return .whole("image/png", try DemoContent.picture()).adding("Cache-Control", "max-age=86400")
        case ("GET", "/api/slow"):
            var answer = DemoAnswer.text("application/json", "{ \"waited\": \"400 ms\" }\n")
            answer.delay = .milliseconds(400)
            return answer
        case ("GET", "/api/events"): return events(request)
        case ("POST", "/api/login"):
            return .text("application/json", "{ \"welcome\": true, \"bytes\": \(request.bodySize) }\n")
        case ("POST", DemoContent.callPath): return call(request)
        case ("GET", "/api/broken"):
            return .text("application/json", "{ \"error\": \"the pump is out of order\" }\n", status: 500)
        case ("GET", "/download/large.bin"):
            let pieces = Array(repeating: DemoContent.piece, count: DemoContent.downloadPieces)
            return DemoAnswer(fields: [("Content-Type", "application/octet-stream")], pieces: pieces)
        case ("PUT", "/upload/large.bin"):
            let checksum = String(request.checksum.value, radix: 16)
            return .text("application/json", "{ \"bytes\": \(request.bodySize), \"crc32\": \"\(checksum)\" }\n")
        default:
            let text = "Nothing is known of this address."
            return .text("text/html", DemoContent.page(title: "Not found", text: text), status: 404)
        }
    }

    private static func order(_ request: DemoRequest) -> DemoAnswer {
        let fields = FormFields.parse(request.body.readableBytesView).map { field in
            "    \(JSONWriter.quoted(field.name)): \(JSONWriter.quoted(field.value))"
        }
        let cookies = request.head.fields.value(of: .cookie) ?? ""
        let text = """
            {
              "cookies": \(JSONWriter.quoted(cookies)),
              "order": {
            \(fields.joined(separator: ",\n"))
              }
            }

            """
        return .text("application/json", text, status: 201).adding("Location", "/api/orders/1")
    }

    /// `count` events, `pause` milliseconds apart, chunked.
    private static func events(_ request: DemoRequest) -> DemoAnswer {
        let query = request.head.target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let parameters = FormFields.parse(Array(query.utf8))
        func number(_ name: String, _ usual: Int) -> Int {
            min(max(parameters.first { $0.name == name }.flatMap { Int($0.value) } ?? usual, 0), 3_600)
        }
        let levels = [3, 4, 6, 9, 7, 5]
        let pieces = (0..<number("count", levels.count)).map { index in
            ByteBuffer(string: "event: level\ndata: { \"metres\": \(levels[index % levels.count]) }\n\n")
        }
        return DemoAnswer(
            fields: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")],
            pieces: pieces,
            isChunked: true,
            pause: .milliseconds(number("pause", 20))
        )
    }

    private static func call(_ request: DemoRequest) -> DemoAnswer {
        var trailers = FieldSection()
        trailers.append("grpc-status", "0")
        trailers.append("grpc-message", "")
        return DemoAnswer(
            fields: [("Content-Type", "application/grpc+proto")],
            pieces: [DemoContent.call(lock: "lock 7", metres: 9)],
            isChunked: true,
            trailers: trailers
        )
    }
}
