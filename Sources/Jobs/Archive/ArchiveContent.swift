import Content
import Files
import Formats
import Foundation
import NIOCore

/// The bytes of a file, unpacked from gzip or a zip.
struct ArchiveContent {
    /// A zip format only if ``zip`` is set.
    private(set) var format = ArchiveFormat.har
    /// Returns the next piece of the archive; an empty piece is the end.
    private(set) var refill: () throws -> [UInt8] = { [] }
    private(set) var zip: ZipReader?
    private(set) var attachments: HARReader.Attachments = { _ in nil }

    private static let pieceSize = 1 << 20
    private static let longestAttachment = 64 << 20
    private static let extensions = [".har", ".chlsj", ".chlsx"]

    /// Throws ``StartError`` for an unknown format, and `FileError`.
    init(_ path: String, _ onRead: @escaping (Int) -> Void) throws {
        let outer = try ArchiveFile.format(of: path)
        switch outer {
        case .zip: try open(try ZipReader(path), path)
        case .gzip: try unpack(Self.unpacked(try Self.pieces(of: path, onRead)), path)
        default:
            format = outer ?? .har
            attachments = Self.files(beside: path)
            refill = try Self.pieces(of: path, onRead)
        }
    }

    /// The pieces with the first `count` bytes, or all bytes if there are fewer.
    func beginning(atLeast count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = try refill()
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }

    private mutating func open(_ zip: ZipReader, _ path: String) throws {
        if CharlesZipReader.isSession(zip) || FiddlerReader.isSession(zip) {
            self.zip = zip
            format = CharlesZipReader.isSession(zip) ? .charlesZip : .fiddlerZip
            return
        }
        // Resource files that macOS adds are not archives.
        let archives = zip.entries.filter { entry in
            let name = entry.name.lowercased()
            return Self.extensions.contains { name.hasSuffix($0) } && !name.hasPrefix("__macosx/")
        }
        guard archives.count < 2 else {
            let hint = "Unpack it, and name the files."
            throw StartError("\(path) is a zip with \(archives.count) archives in it.", hint: hint)
        }
        guard let archive = archives.first else { throw ArchiveFile.unknown(path) }
        let folder = archive.name.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        attachments = { name in
            let entry = zip[(folder + [Substring(name)]).joined(separator: "/")]
            return try entry.flatMap { try zip.contents(of: $0, atMost: Self.longestAttachment) }
        }
        try unpack(zip.open(archive).next, path)
    }

    private mutating func unpack(_ pieces: @escaping () throws -> [UInt8], _ path: String) throws {
        refill = pieces
        let beginning = try beginning(atLeast: ArchiveFormat.tellingBytes)
        switch ArchiveFormat(beginning: Array(beginning.prefix(ArchiveFormat.tellingBytes))) {
        case .zip, .gzip, nil: throw ArchiveFile.unknown(path)
        case let format?: self.format = format
        }
        var first: [UInt8]? = beginning
        refill = {
            defer { first = nil }
            return try first ?? pieces()
        }
    }

    /// Unpacks gzip. Its size is limited like the size of a zip.
    private static func unpacked(_ pieces: @escaping () throws -> [UInt8]) -> () throws -> [UInt8] {
        let growth = DecodedGrowth(times: ZipReader.mostRatio, always: ZipReader.freeBytes)
        let decoder = ContentDecoder(codings: [.gzip], limit: ZipReader.mostBytes, growth: growth)
        var packed = ByteBuffer()
        return {
            while true {
                if packed.readableBytes == 0 { packed = ByteBuffer(bytes: try pieces()) }
                // In small steps, because gzip data may grow a thousandfold.
                let piece = packed.readSlice(length: min(64 << 10, packed.readableBytes))
                let isEnd = (piece?.readableBytes ?? 0) == 0
                if isEnd { decoder.finish() }
                let bytes = piece.map { decoder.decode($0) } ?? ByteBuffer()
                if bytes.readableBytes > 0 { return Array(bytes.readableBytesView) }
                if let problem = decoder.problem {
                    throw ArchiveError("the gzip data is damaged or cut off: \(problem)")
                }
                if isEnd { return [] }
            }
        }
    }

    private static func pieces(of path: String, _ onRead: @escaping (Int) -> Void) throws -> () throws -> [UInt8] {
        let file = FileHandle(fileDescriptor: try InputFile.descriptor(of: path), closeOnDealloc: true)
        var count = 0
        return {
            let piece = Array(try file.read(upToCount: pieceSize) ?? Data())
            count += piece.count
            onRead(count)
            return piece
        }
    }

    /// Bodies in files beside a HAR (Playwright). The names must be hashes, so that no archive can name other files.
    private static func files(beside path: String) -> HARReader.Attachments {
        let folder = (path as NSString).deletingLastPathComponent
        return { name in
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            let isHash = parts.first.map { $0.utf8.count == 40 && $0.allSatisfy(\.isHexDigit) } ?? false
            guard isHash, parts.count < 3, parts.dropFirst().allSatisfy({ $0.utf8.allSatisfy(isWordByte) }) else {
                return nil
            }
            let file = folder.isEmpty ? name : "\(folder)/\(name)"
            return try? InputFile.contents(of: file, atMost: longestAttachment)
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 }
}
