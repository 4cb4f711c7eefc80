import HTTPModel
import NIOCore

/// Reads cURL commands of browsers or scripts as unsent requests. Nothing is run, and no file of a command is read.
package struct CurlFileReader: ArchiveReader {
    package static let longest = 64 << 20

    private let bytes: [UInt8]
    private let moment: Int64
    private let losses: ArchiveLosses

    /// Prepares to read a text; `moment` is when it was written, in microseconds since 1970.
    package init(_ bytes: [UInt8], at moment: Int64, losses: ArchiveLosses) {
        (self.bytes, self.moment, self.losses) = (bytes, moment, losses)
    }

    package mutating func forEach(_ body: (ArchiveEntry) throws -> Void) throws {
        var count = 0
        try CurlCommandReader.forEach(in: bytes) { result in
            switch result {
            case .success(let request):
                count += 1
                try body(entry(request))
            case .failure(let error):
                losses.add(.init("command that cannot be read: \(error)", "commands that cannot be read: \(error)"))
            }
        }
        if count == 0, losses.phrases.isEmpty { throw ArchiveError("there is no cURL command in it") }
    }

    private func entry(_ request: CurlRequest) -> ArchiveEntry {
        var entry = ArchiveEntry()
        entry.isUnsent = true
        entry.startedAt = moment
        entry.method = request.method
        entry.url = request.url
        entry.request.version = request.version.map { "\($0)" } ?? ""
        var content = ByteBuffer()
        for piece in request.pieces {
            switch piece {
            case .bytes(let bytes): content.writeBytes(bytes)
            case .file: losses.add(.init("{body in a file|bodies in files}, which {is|are} not read"))
            }
        }
        var lines = request.fields
        let isThere = { (name: String) in lines.contains { $0.name.lowercased() == name } }
        let isAdded = { (name: String) in !isThere(name) && !request.removed.contains(name) }
        if isAdded("host"), let url = RequestURL(request.url) { lines.insert(.init("Host", url.authority), at: 0) }
        let isWhole = !request.pieces.isEmpty && request.files.isEmpty
        if isWhole || content.readableBytes > 0, isAdded("content-length"), !isThere("transfer-encoding") {
            lines.append(.init("Content-Length", "\(content.readableBytes)"))
        }
        entry.request.fields = lines.map { ($0.name, $0.value) }
        for (index, line) in lines.enumerated() { entry.request.valueBytes[index] = line.valueBytes }
        if let target = request.target, var url = RequestURL(request.url) {
            url.setPathAndQuery(String(fieldBytes: target))
            (entry.target, entry.targetBytes) = (url, target)
        }
        entry.request.bytes = content
        entry.request.isCoded = true
        for remark in request.remarks {
            losses.add(.init("command of which this is \(remark)", "commands of which this is \(remark)"))
        }
        return entry
    }
}
