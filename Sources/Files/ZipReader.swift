import CZip
import Foundation

/// Reads an untrusted zip (APPNOTE.TXT 6.3) by libzip. It refuses names that lead out of the archive, duplicate names,
/// links, encrypted entries, more than ``mostEntries``, and zip bombs. Use it on one thread.
package final class ZipReader {
    package static var libraryVersion: String { String(cString: zip_libzip_version()) }

    package struct Entry: Sendable, Hashable {
        /// Checked to be relative without `..`.
        package let name: String
        /// As the archive claims.
        package let size: UInt64
        fileprivate let index: UInt64
        fileprivate let packedSize: UInt64

        fileprivate var most: UInt64 {
            let (bytes, isOver) = packedSize.multipliedReportingOverflow(by: UInt64(ZipReader.mostRatio))
            return isOver ? .max : max(UInt64(ZipReader.freeBytes), bytes)
        }

        var isLikeTrap: Bool { size > most }
    }

    /// The limit of the original format.
    package static let mostEntries = 65_535
    package static let mostBytes = 16 << 30
    /// The highest ratio for entries that unpack to more than ``freeBytes``.
    package static let mostRatio = 200
    package static let freeBytes = 256 << 20

    private static let pieceSize = 256 << 10
    /// In bytes: the end record with the longest comment (4.3.16).
    private static let longestEnd = 22 + 65_535
    private static let longestDirectory: UInt64 = 64 << 20

    package let entries: [Entry]
    private let path: String
    private let archive: OpaquePointer
    private let byName: [String: Entry]
    private var unpacked = 0

    package init(_ path: String) throws(FileError) {
        self.path = path
        let size: UInt64
        (archive, size) = try ZipReader.open(path)
        do throws(FileError) {
            entries = try ZipReader.entries(of: archive, path, size)
        } catch {
            zip_discard(archive)
            throw error
        }
        byName = Dictionary(entries.map { ($0.name, $0) }) { first, _ in first }
    }

    deinit { zip_discard(archive) }

    package subscript(name: String) -> Entry? { byName[name] }

    // MARK: - Opening

    private static func open(_ path: String) throws(FileError) -> (OpaquePointer, UInt64) {
        let descriptor = try InputFile.descriptor(of: path)
        let size: UInt64
        do throws(FileError) {
            size = try checkEnd(path, descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        guard let stream = fdopen(descriptor, "rb") else {
            close(descriptor)
            throw FileError(path, "cannot be read", errno: errno)
        }
        var error = zip_error_t()
        zip_error_init(&error)
        defer { zip_error_fini(&error) }
        guard let source = zip_source_filep_create(stream, 0, -1, &error) else {
            fclose(stream)
            throw FileError(path, "cannot be read as a zip: \(text(&error))")
        }
        guard let archive = zip_open_from_source(source, CInt(ZIP_RDONLY), &error) else {
            zip_source_free(source)
            throw FileError(path, "cannot be read as a zip: \(text(&error))")
        }
        return (archive, size)
    }

    private static func text(_ error: inout zip_error_t) -> String { String(cString: zip_error_strerror(&error)) }

    /// Checks the end records before libzip allocates what they claim (4.3.14 to 4.3.16). Returns the file's size.
    private static func checkEnd(_ path: String, _ descriptor: CInt) throws(FileError) -> UInt64 {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw FileError(path, "cannot be read", errno: errno) }
        let start = max(0, Int(facts.st_size) - longestEnd)
        let tail = bytes(of: descriptor, at: start, count: longestEnd)
        var isThere = false
        // libzip reads the list of everything that looks like an end record, so the sizes of the lists are added up.
        var listed: UInt64 = 0
        for index in tail.indices.dropLast(21) where tail[index...].starts(with: [0x50, 0x4B, 0x05, 0x06]) {
            isThere = true
            // libzip prefers the zip64 record if there is one.
            let (count, size) =
                largeEnd(descriptor, before: start + index)
                ?? (number(tail, index + 10, 2), number(tail, index + 12, 4))
            guard count <= UInt64(mostEntries), size <= longestDirectory - listed else {
                throw FileError(path, "is refused: the zip has more than \(mostEntries) entries")
            }
            listed += size
        }
        guard isThere else {
            throw FileError(path, "cannot be read as a zip: it has no list of its entries, so it is cut off or damaged")
        }
        return UInt64(max(0, facts.st_size))
    }

    /// The number of entries and the size of the list, from the zip64 record.
    private static func largeEnd(_ descriptor: CInt, before end: Int) -> (UInt64, UInt64)? {
        let locator = bytes(of: descriptor, at: end - 20, count: 20)
        guard locator.count == 20, locator.starts(with: [0x50, 0x4B, 0x06, 0x07]),
            let place = Int(exactly: number(locator, 8, 8))
        else { return nil }
        let record = bytes(of: descriptor, at: place, count: 56)
        guard record.count == 56, record.starts(with: [0x50, 0x4B, 0x06, 0x06]) else { return nil }
        return (number(record, 32, 8), number(record, 40, 8))
    }

    private static func bytes(of descriptor: CInt, at offset: Int, count: Int) -> [UInt8] {
        guard offset >= 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let (place, isOver) = offset.addingReportingOverflow(done)
            guard !isOver else { break }
            let got = bytes.withUnsafeMutableBytes {
                pread(
                    descriptor,
                    UnsafeMutableRawBufferPointer(rebasing: $0[done...]).baseAddress,
                    count - done,
                    off_t(place)
                )
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { break }
            done += got
        }
        return Array(bytes.prefix(done))
    }

    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> UInt64 {
        bytes.dropFirst(place).prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    // MARK: - Entries

    private static func entries(
        of archive: OpaquePointer,
        _ path: String,
        _ fileSize: UInt64
    ) throws(FileError) -> [Entry] {
        let count = zip_get_num_entries(archive, 0)
        guard count <= mostEntries else {
            throw FileError(path, "is refused: the zip has more than \(mostEntries) entries")
        }
        var entries: [Entry] = []
        var names: Set<String> = []
        for index in 0..<UInt64(max(0, count)) {
            var facts = zip_stat_t()
            guard zip_stat_index(archive, index, 0, &facts) == 0, let text = facts.name else {
                throw FileError(path, "cannot be read as a zip: entry \(index + 1) is damaged")
            }
            let name = String(cString: text)
            func refuse(_ why: String) -> FileError {
                FileError(path, "is refused: the zip's entry '\(shown(name))' \(why)")
            }
            if leadsOut(name) { throw refuse("has a name outside of it") }
            if !names.insert(name).inserted { throw refuse("is there twice") }
            if isLink(archive, index) { throw refuse("is a link") }
            if name.hasSuffix("/") { continue }
            if facts.encryption_method != 0 {
                throw refuse("is encrypted; unpack it and open its files")
            }
            guard facts.comp_method == 0 || facts.comp_method == 8 else {
                throw refuse("is packed by a method other than deflate (\(facts.comp_method))")
            }
            // libzip accepts any packed size, even one larger than the file.
            let packedSize = min(facts.comp_size, fileSize)
            entries.append(Entry(name: name, size: facts.size, index: index, packedSize: packedSize))
        }
        return entries
    }

    private static func isLink(_ archive: OpaquePointer, _ index: UInt64) -> Bool {
        var system: UInt8 = 0
        var attributes: UInt32 = 0
        guard zip_file_get_external_attributes(archive, index, 0, &system, &attributes) == 0 else { return false }
        return attributes >> 16 & UInt32(S_IFMT) == UInt32(S_IFLNK)
    }

    /// Whether a name is absolute, or has a drive or `..`, on any system.
    static func leadsOut(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard let first = bytes.first else { return true }
        let isSlash = { (byte: UInt8) in byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
        if isSlash(first) || bytes.count > 1 && bytes[1] == UInt8(ascii: ":") && (first | 0x20) &- 0x61 < 26 {
            return true
        }
        return bytes.split(whereSeparator: isSlash).contains { $0.elementsEqual("..".utf8) }
    }

    /// Short and without control characters.
    private static func shown(_ name: String) -> String {
        String(
            String.UnicodeScalarView(name.unicodeScalars.prefix(60).map { (0x20..<0x7F).contains($0.value) ? $0 : "?" })
        )
    }

    // MARK: - Reading

    package func open(_ entry: Entry) throws -> Pieces { try Pieces(of: entry, in: self) }

    package final class Pieces {
        private let zip: ZipReader
        private let entry: Entry
        private let file: OpaquePointer
        private var count: UInt64 = 0

        fileprivate init(of entry: Entry, in zip: ZipReader) throws {
            (self.zip, self.entry) = (zip, entry)
            let (sum, isOver) = entry.size.addingReportingOverflow(UInt64(zip.unpacked))
            guard !entry.isLikeTrap, !isOver, sum <= UInt64(ZipReader.mostBytes) else {
                throw zip.failure(entry, "is too large when unpacked; it may be a zip bomb")
            }
            guard let file = zip_fopen_index(zip.archive, entry.index, 0) else {
                let why = String(cString: zip_error_strerror(zip_get_error(zip.archive)))
                throw zip.failure(entry, "cannot be read: \(why)")
            }
            self.file = file
        }

        deinit { zip_fclose(file) }

        /// Empty at the end. Throws ``FileError`` if damaged or longer than declared.
        package func next() throws -> [UInt8] {
            var got: zip_int64_t = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: ZipReader.pieceSize) { buffer, count in
                got = zip_fread(file, buffer.baseAddress, UInt64(buffer.count))
                count = max(0, Int(got))
            }
            guard got >= 0 else {
                throw zip.failure(entry, "is damaged: \(String(cString: zip_error_strerror(zip_file_get_error(file))))")
            }
            count += UInt64(got)
            zip.unpacked += Int(got)
            guard count <= entry.size else {
                throw zip.failure(entry, "is larger than it claims: it is damaged, or a zip bomb")
            }
            return bytes
        }
    }

    private func failure(_ entry: Entry, _ why: String) -> FileError {
        FileError(path, "cannot be unpacked: its entry '\(ZipReader.shown(entry.name))' \(why)")
    }

    /// Calls `body` with each piece of an entry.
    package func read(_ entry: Entry, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let pieces = try open(entry)
        while true {
            let piece = try pieces.next()
            if piece.isEmpty { return }
            try piece.withUnsafeBytes(body)
        }
    }

    /// `nil` if there are more than `count` bytes.
    package func contents(of entry: Entry, atMost count: Int) throws -> [UInt8]? {
        guard entry.size <= UInt64(max(0, count)) else { return nil }
        var bytes: [UInt8] = []
        try read(entry) { bytes += $0 }
        return bytes
    }

    /// Writes a new file that only the user may read. Throws if `room` returns too few bytes; `nil` means unknown.
    package func extract(_ entry: Entry, to file: String, room: (String) -> UInt64? = FreeSpace.bytes(beside:)) throws {
        if let free = room(file), !entry.isLikeTrap, entry.size > free {
            let needed = "\(entry.size >> 20) MiB, and \(free >> 20) MiB are free"
            throw FileError(file, "cannot be written: '\(ZipReader.shown(entry.name))' unpacks to \(needed)")
        }
        let descriptor = OutputFile.create(file, mode: 0o600)
        guard descriptor >= 0 else { throw FileError(file, "cannot be written", errno: errno) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try read(entry) { piece in
            do {
                try handle.write(contentsOf: piece)
            } catch {
                throw FileError(file, "cannot be written: \(error.localizedDescription)")
            }
        }
        try handle.close()
    }
}
