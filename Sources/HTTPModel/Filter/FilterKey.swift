/// A key of the filter language: what it takes and what it means.
///
/// The parser reads by the same table.
package struct FilterKey: Sendable {
    /// The key as it is written before the colon.
    package let name: String
    /// What stands after the colon, for example `GLOB`.
    package let argument: String
    /// What the term selects, in one line.
    package let summary: String
    /// A term that compiles.
    package let example: String

    let read: @Sendable (FilterText, FilterValueReader) throws(FilterError) -> FilterTest
}

extension Filter {
    /// Every key, in the order in which help should show them.
    package static let reference: [FilterKey] = [
        text("host", .host, "GLOB", "the host", "host:*.example.com", ignoringCase: true),
        text("path", .path, "GLOB", "the path, without the query", "path:/v1/*"),
        text(
            "query",
            .query,
            "TEXT",
            "the query has the text; with *, is like it",
            "query:page=2",
            isFoundAnywhere: true
        ),
        FilterKey(
            name: "url",
            argument: "TEXT",
            summary: "the URL has the text, as for a bare word; with *, is like it",
            example: "url:https://*/login*"
        ) { value, reader throws(FilterError) in
            .url(try reader.glob(value, ignoringCase: true, isFoundAnywhere: true))
        },
        text("scheme", .scheme, "GLOB", "http, https, ws, wss or tunnel", "scheme:https", ignoringCase: true),
        number("port", .port, .count, "the port, given or not", "port:8080"),
        text("method", .method, "GLOB", "the method", "method:POST,PUT", ignoringCase: true),
        FilterKey(
            name: "status",
            argument: "CODE",
            summary: "the status code: one, a class, a comparison or a range; 0 while there is none",
            example: "status:5xx"
        ) { value, reader throws(FilterError) in
            .number(.status, try reader.status(value))
        },
        FilterKey(
            name: "grpc",
            argument: "CODE",
            summary: "the gRPC status: its number or name, a comparison or a range; * for any",
            example: "grpc:unavailable"
        ) { value, reader throws(FilterError) in
            .number(.grpc, try reader.grpcStatus(value))
        },
        FilterKey(
            name: "type",
            argument: "TYPE",
            summary: "the response's media type: a part of it, or with / or wildcards the whole",
            example: "type:json"
        ) { value, reader throws(FilterError) in
            try reader.mediaType(value)
        },
        number("size", .size, .size, "bytes of both bodies together, as received", "size:>1mb"),
        number("time", .time, .time, "how long it took in all; in ms without a unit", "time:>500ms"),
        number("messages", .messages, .count, "messages of both directions of a stream, by now", "messages:>10"),
        number("id", .id, .count, "the number in the session", "id:10..20"),
        address("ip", .upstream, "the server's address", "ip:10.0.*"),
        address("client", .client, "the client's address", "client:192.168.1.7"),
        FilterKey(
            name: "version",
            argument: "h1|h2",
            summary: "the version of HTTP on either leg: h1, h2, 1.0, 1.1 or 2",
            example: "version:h2"
        ) { value, reader throws(FilterError) in
            .version(try reader.version(value))
        },
        FilterKey(
            name: "since",
            argument: "TIME",
            summary: "begun at or after a time of day, an ISO time, or so long ago",
            example: "since:10m"
        ) { value, reader throws(FilterError) in
            .number(.startedAt, try reader.time(value)...Int64.max)
        },
        FilterKey(
            name: "before",
            argument: "TIME",
            summary: "begun before a time of day, an ISO time, or so long ago",
            example: "before:14:30"
        ) { value, reader throws(FilterError) in
            .number(.startedAt, Int64.min...(try reader.time(value) - 1))
        },
        field("header", .either, "a field of request or response: its name, or name and value"),
        field("reqheader", .request, "a field of the request"),
        field("resheader", .response, "a field of the response"),
        body("body", .either, "a body has the text, in whatever case"),
        body("reqbody", .request, "the request's body has the text"),
        body("resbody", .response, "the response's body has the text"),
        FilterKey(
            name: "is",
            argument: "WHAT",
            summary: "a fact or a kind of failure; the word error alone means any failure",
            example: "is:changed"
        ) { value, reader throws(FilterError) in
            .property(try reader.property(value))
        },
    ]

    /// What `is:` takes, with a line on each.
    package static var properties: [(name: String, summary: String)] {
        FilterProperty.all.map { ($0.name, $0.summary) }
    }

    private static func text(
        _ name: String,
        _ field: FilterTest.TextField,
        _ argument: String,
        _ summary: String,
        _ example: String,
        ignoringCase: Bool = false,
        isFoundAnywhere: Bool = false
    ) -> FilterKey {
        FilterKey(
            name: name,
            argument: argument,
            summary: summary,
            example: example
        ) { value, reader throws(FilterError) in
            .text(field, try reader.glob(value, ignoringCase: ignoringCase, isFoundAnywhere: isFoundAnywhere))
        }
    }

    private static func number(
        _ name: String,
        _ field: FilterTest.NumberField,
        _ quantity: Quantity,
        _ summary: String,
        _ example: String
    ) -> FilterKey {
        FilterKey(
            name: name,
            argument: "N",
            summary: summary,
            example: example
        ) { value, reader throws(FilterError) in
            .number(field, try reader.range(value, quantity))
        }
    }

    private static func address(
        _ name: String,
        _ leg: ConnectionRecord.Leg,
        _ summary: String,
        _ example: String
    ) -> FilterKey {
        FilterKey(
            name: name,
            argument: "GLOB",
            summary: summary,
            example: example
        ) { value, reader throws(FilterError) in
            .address(leg, try reader.glob(value, ignoringCase: true))
        }
    }

    private static func field(_ name: String, _ side: FilterTest.Side, _ summary: String) -> FilterKey {
        FilterKey(
            name: name,
            argument: "\"NAME: TEXT\"",
            summary: summary,
            example: "\(name):\"content-type: json\""
        ) { value, reader throws(FilterError) in
            try reader.field(value, side)
        }
    }

    private static func body(_ name: String, _ side: FilterTest.Side, _ summary: String) -> FilterKey {
        FilterKey(
            name: name,
            argument: "TEXT",
            summary: summary,
            example: "\(name):\"not found\""
        ) { value, _ throws(FilterError) in
            .body(side, Glob(containing: value.plain, ignoringCase: true))
        }
    }
}
