import ExchangeCore
import Files
package import HTTPModel
import Recording
package import Rules
import Sharing

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
        var count = 0
        try ImportedArchive.forEachEntry(of: path, textLimit: 1 << 16) { entry in
            count += 1
            guard let url = RequestURL(entry.url) else { return }
            try body(Request(name: "\(count)", method: entry.method, url: url, fields: entry.request.fields))
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
