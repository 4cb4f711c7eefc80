import ExchangeCore
import Files
import Formats
import HTTPModel
import Recording
package import Rules

package enum RequestArchive {
    /// `name` is the exchange's number, or its position in the archive. `fields` is empty for a session.
    typealias Request = (name: String, method: String, url: RequestURL, fields: [(name: String, value: String)])

    static func forEach(_ path: String, _ body: (Request) throws -> Void) throws {
        let format = try ArchiveFile.format(of: path)
        guard let format, try format != .zip || ArchiveFile.bundle(path) == nil else {
            try SessionQuery.open(path).forEachRecord { record in
                if record.kind != .malformed, record.kind != .failedHandshake {
                    try body(("\(record.id)", record.method, record.url, []))
                }
                return true
            }
            return
        }
        var count = 0
        try ArchiveFile.forEachEntry(of: path, textLimit: 1 << 16) { entry in
            count += 1
            guard let url = entry.target ?? RequestURL(entry.url) else { return }
            try body(("\(count)", entry.method, url, entry.request.fields))
        }
    }

    /// Throws for a file that is neither a session nor an archive.
    static func requireSession(_ path: String) throws(StartError) {
        SessionCreation.wait(for: path)
        // An unreadable file is reported when it is opened.
        guard let start = try? InputFile.contents(of: path, atMost: 15), start != Array("SQLite format 3".utf8)
        else { return }
        if let text = try? InputFile.contents(of: path, atMost: ArchiveFormat.tellingBytes),
            let title = ArchiveFormat.copiedCode(text)
        {
            throw StartError("\(path) has \(title), which is not read.", hint: "Copy it as cURL, or save a HAR.")
        }
        throw StartError("\(path) is not a session or a known archive.", hint: ArchiveFile.unknown(path).hint)
    }
}

extension RuleUsage {
    /// Throws `StartError` or `SessionError`.
    package mutating func add(archive path: String) throws {
        var holding: [ObjectIdentifier: Set<String>] = [:]
        if !conditions.isEmpty {
            let reader = try SessionQuery.open(path)
            for condition in conditions {
                let numbers = try reader.numbers(matching: condition.filter).map(String.init)
                holding[ObjectIdentifier(condition)] = Set(numbers)
            }
        }
        try RequestArchive.forEach(path) { request in
            let (method, url, fields) = (request.method, request.url, request.fields.map { ($0.name, $0.value) })
            let head = RequestHead(method: method, target: url.requestTarget, fields: fields)
            let opening = ExchangeOpening(id: ExchangeID(1), url: url, head: head, clientAddress: "")
            add(opening, sample: "\(request.name) \(method) \(url)") { condition in
                holding[ObjectIdentifier(condition)]?.contains(request.name) ?? false
            }
        }
    }
}

extension RequestURL {
    /// The path and query, or the authority of a CONNECT.
    package var requestTarget: String { scheme == "tunnel" ? authority : pathAndQuery }
}
