import ExchangeCore
import Files
import Foundation
package import HTTPModel
import Recording
package import Rules

/// Recorded requests, from a session or a HAR: just methods, URLs and fields.
package enum RequestArchive {
    package struct Request: Sendable {
        /// What it is called there: the exchange's number, or its place among the HAR's entries, from 1.
        package var name: String
        package var method: String
        /// What was asked for.
        package var url: RequestURL
        /// The fields; empty of a session, whose lists do not have them.
        package var fields: [(name: String, value: String)] = []
    }

    /// Calls `body` with each request of a session (a file, or `last`) or a HAR, in order.
    ///
    /// - Throws: `StartFailure` or `SessionError` where it cannot be read.
    package static func forEach(_ path: String, _ body: (Request) throws -> Void) throws {
        guard try isHAR(path) else {
            try SessionQuery.open(path).forEachRecord { record in
                if record.kind != .malformed, record.kind != .failedHandshake {
                    try body(Request(name: "\(record.id)", method: record.method, url: record.url))
                }
                return true
            }
            return
        }
        do {
            let handle = FileHandle(fileDescriptor: try InputFile.descriptor(of: path), closeOnDealloc: true)
            var scanner = JSONScanner { Array(try handle.read(upToCount: 1 << 16) ?? Data()) }
            try HARRequests.forEach(&scanner, body)
        } catch let failure as JSONScanner.Failure {
            throw StartFailure("\(path) cannot be read as a HAR: \(failure.message).")
        }
    }

    /// Refuses a file that is there and begins neither as a session nor as a HAR.
    package static func requireSession(_ path: String) throws(StartFailure) {
        // What cannot be read is told by whoever opens it.
        guard let start = try? InputFile.contents(of: path, atMost: 15), start != Array("SQLite format 3".utf8)
        else { return }
        throw StartFailure("\(path) is neither a Sluice session nor a HAR.")
    }

    /// A session begins with SQLite's own mark; whatever begins like JSON is taken for a HAR.
    package static func isHAR(_ path: String) throws -> Bool {
        let start: [UInt8]
        do throws(FileFailure) {
            start = try InputFile.contents(of: path, atMost: 64)
        } catch {
            // What is missing may be called 'last', and what else cannot be read is told by whoever opens it.
            if error.cause == .noFile { throw error }
            return false
        }
        return start.drop { [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }.first == UInt8(ascii: "{")
    }
}

/// Reads the requests of a HAR 1.2 and passes over all the rest.
private enum HARRequests {
    static func forEach(_ scanner: inout JSONScanner, _ body: (RequestArchive.Request) throws -> Void) throws {
        guard try scanner.next() == .beginObject else { throw JSONScanner.Failure(message: "it is no object") }
        var hasLog = false
        try members(&scanner) { scanner, name, first in
            guard name == "log", first == .beginObject else { return try scanner.skip(first) }
            hasLog = true
            try members(&scanner) { scanner, name, first in
                guard name == "entries", first == .beginArray else { return try scanner.skip(first) }
                try entries(&scanner, body)
            }
        }
        if !hasLog { throw JSONScanner.Failure(message: "it has no 'log'") }
    }

    /// Calls `body` with each member's name and the first token of its value, of which it must read the rest.
    private static func members(
        _ scanner: inout JSONScanner,
        _ body: (inout JSONScanner, String, JSONScanner.Token) throws -> Void
    ) throws {
        while true {
            switch try scanner.next() {
            case .endObject: return
            case .string(let name): try body(&scanner, name, try scanner.next())
            default: throw JSONScanner.Failure(message: "it is no JSON")
            }
        }
    }

    private static func entries(
        _ scanner: inout JSONScanner,
        _ body: (RequestArchive.Request) throws -> Void
    ) throws {
        var count = 0
        while true {
            let token = try scanner.next()
            if token == .endArray { return }
            count += 1
            guard token == .beginObject else {
                try scanner.skip(token)
                continue
            }
            var request: RequestArchive.Request?
            try members(&scanner) { scanner, name, first in
                guard name == "request", first == .beginObject else { return try scanner.skip(first) }
                request = try self.request(&scanner, name: String(count))
            }
            if let request { try body(request) }
        }
    }

    private static func request(_ scanner: inout JSONScanner, name: String) throws -> RequestArchive.Request? {
        var method = ""
        var url: RequestURL?
        var fields: [(name: String, value: String)] = []
        try members(&scanner) { scanner, name, first in
            switch (name, first) {
            case ("method", .string(let text)): method = text
            case ("url", .string(let text)): url = RequestURL(text)
            case ("headers", .beginArray): fields = try self.fields(&scanner)
            default: try scanner.skip(first)
            }
        }
        return url.map { RequestArchive.Request(name: name, method: method, url: $0, fields: fields) }
    }

    private static func fields(_ scanner: inout JSONScanner) throws -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        while true {
            let token = try scanner.next()
            if token == .endArray { return fields }
            guard token == .beginObject else {
                try scanner.skip(token)
                continue
            }
            var field = (name: "", value: "")
            try members(&scanner) { scanner, name, first in
                switch (name, first) {
                case ("name", .string(let text)): field.name = text
                case ("value", .string(let text)): field.value = text
                default: try scanner.skip(first)
                }
            }
            // More fields than any request has are not kept.
            if fields.count < 1_000 { fields.append(field) }
        }
    }
}

extension RuleUsage {
    /// Counts all requests of a session or a HAR.
    ///
    /// - Throws: `StartFailure` or `SessionError` where it cannot be read.
    package mutating func add(archive path: String) throws {
        try RequestArchive.forEach(path) { request in
            let target = request.url.scheme == "tunnel" ? request.url.authority : request.url.pathAndQuery
            let opening = ExchangeOpening(
                id: ExchangeID(1),
                url: request.url,
                head: RequestHead(
                    method: request.method,
                    target: target,
                    fields: request.fields.map { ($0.name, $0.value) }
                ),
                clientAddress: ""
            )
            add(opening, sample: "\(request.name) \(request.method) \(request.url)")
        }
    }
}
