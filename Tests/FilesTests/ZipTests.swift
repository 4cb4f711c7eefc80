import Foundation
import Testing

@testable import Files

@Suite("Zips that nobody vouches for", .timeLimit(.minutes(2)))
struct ZipTests {
    private let directory = NSTemporaryDirectory() + "sluice-zip-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

    /// One entry of a zip that is put together by hand (APPNOTE.TXT 4.3.7, 4.3.12).
    private struct Entry {
        var name: String
        var content: [UInt8] = Array("content".utf8)
        var flags: UInt16 = 0x0800
        var method: UInt16 = 0
        var mode: UInt32 = 0o100644
    }

    private func number(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    /// The check sum of zip: polynomial 0xEDB88320.
    private func sum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 {
                let half: UInt32 = sum >> 1
                sum = sum & 1 == 1 ? half ^ 0xEDB8_8320 : half
            }
        }
        return ~sum
    }

    private func zip(_ entries: [Entry], count: UInt16? = nil) throws -> String {
        var bytes: [UInt8] = []
        var list: [UInt8] = []
        for entry in entries {
            let size = UInt32(entry.content.count)
            var shared = number(UInt16(20)) + number(entry.flags) + number(entry.method)
            shared += number(UInt32(0x5C21_0000)) + number(sum(entry.content)) + number(size) + number(size)
            shared += number(UInt16(entry.name.utf8.count)) + number(UInt16(0))
            list += number(UInt32(0x0201_4B50)) + number(UInt16(0x0314)) + shared
            list += number(UInt16(0)) + number(UInt16(0)) + number(UInt16(0)) + number(entry.mode << 16)
            list += number(UInt32(bytes.count)) + entry.name.utf8
            bytes += number(UInt32(0x0403_4B50)) + shared + entry.name.utf8 + entry.content
        }
        let count = count ?? UInt16(clamping: entries.count)
        let start = UInt32(bytes.count)
        bytes += list + number(UInt32(0x0605_4B50)) + number(UInt32(0)) + number(count) + number(count)
        bytes += number(UInt32(list.count)) + number(start) + number(UInt16(0))
        let path = "\(directory)/\(UUID().uuidString).zip"
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    private func refusal(_ entries: [Entry]) throws -> String {
        let path = try zip(entries)
        let error = #expect(throws: FileError.self) { try ZipReader(path) }
        return error?.reason ?? ""
    }

    @Test("What is written is read again, in the order in which it was put in")
    func roundTrip() throws {
        let long = [UInt8]((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 1_000) })
        for (name, content) in [("a", []), ("b", Array("text".utf8)), ("c", long)] {
            try Data(content).write(to: URL(filePath: "\(directory)/\(name)"))
        }
        let path = directory + "/made.zip"
        try ZipWriter.write(
            [
                .init("one/empty", file: directory + "/a"), .init("text.txt", file: directory + "/b", isStored: true),
                .init("long", file: directory + "/c"),
            ],
            to: path
        )
        let reader = try ZipReader(path)
        #expect(reader.entries.map(\.name) == ["one/empty", "text.txt", "long"] && reader.entries[2].size == 3_000_000)
        #expect(try reader.contents(of: try #require(reader["text.txt"]), atMost: 4) == Array("text".utf8))
        #expect(try reader.contents(of: try #require(reader["text.txt"]), atMost: 3) == nil)
        try reader.extract(try #require(reader["long"]), to: directory + "/out")
        #expect(try Array(Data(contentsOf: URL(filePath: directory + "/out"))) == long)
        let mode = try FileManager.default.attributesOfItem(atPath: directory + "/out")[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // Nothing is written over.
        #expect(throws: FileError.self) { try reader.extract(reader.entries[0], to: directory + "/out") }
    }

    @Test(
        "Names that lead out are refused, whatever the system",
        arguments: [
            "../x", "a/../../x", "/etc/passwd", "\\windows", "C:x", "c:\\x", "a\\..\\x", "..", "a/..",
        ]
    )
    func names(name: String) throws {
        #expect(try refusal([Entry(name: "ok"), Entry(name: name)]).contains("name outside of it"), "\(name)")
    }

    @Test("Links, names that stand twice, encrypted entries and other methods are refused with their names")
    func kinds() throws {
        #expect(try refusal([Entry(name: "l", mode: 0o120777)]).contains("'l' is a link"))
        #expect(try refusal([Entry(name: "x"), Entry(name: "x")]).contains("'x' is there twice"))
        #expect(try refusal([Entry(name: "k", flags: 0x0801)]).contains("'k' is encrypted"))
        #expect(try refusal([Entry(name: "m", method: 12)]).contains("method other than deflate"))
        let escape = try refusal([Entry(name: "\u{1B}[2J/..")])
        #expect(!escape.isEmpty && !escape.contains("\u{1B}"))
        #expect(
            try ZipReader(try zip([Entry(name: "folder/"), Entry(name: "..x/y..")])).entries.map(\.name) == ["..x/y.."]
        )
    }

    @Test("Too many entries are refused before room is made for them, those of zip64 too")
    func many() throws {
        let path = directory + "/many.zip"
        var end = number(UInt32(0x0606_4B50)) + number(UInt64(44)) + number(UInt16(45)) + number(UInt16(45))
        end += number(UInt32(0)) + number(UInt32(0)) + number(UInt64(100_000)) + number(UInt64(100_000))
        end += number(UInt64(1 << 40)) + number(UInt64(0))
        end += number(UInt32(0x0706_4B50)) + number(UInt32(0)) + number(UInt64(4)) + number(UInt32(1))
        end += number(UInt32(0x0605_4B50)) + number(UInt32(0)) + number(UInt16(0xFFFF)) + number(UInt16(0xFFFF))
        end += number(UInt32.max) + number(UInt32.max) + number(UInt16(0))
        try Data(number(UInt32(0x0403_4B50)) + end).write(to: URL(filePath: path))
        let error = #expect(throws: FileError.self) { try ZipReader(path) }
        #expect(error?.reason.contains("more than 65535 entries") == true, "\(error?.reason ?? "")")
        // The record of zip64 counts, whatever the other one says.
        let small = number(UInt16(1)) + number(UInt16(1)) + number(UInt32(46)) + number(UInt32(4)) + number(UInt16(0))
        try Data(number(UInt32(0x0403_4B50)) + end.dropLast(14) + small).write(to: URL(filePath: path))
        let hidden = #expect(throws: FileError.self) { try ZipReader(path) }
        #expect(hidden?.reason.contains("more than 65535 entries") == true, "\(hidden?.reason ?? "")")
    }

    @Test("A list of entries that many end records have is not read again for each of them", .timeLimit(.minutes(1)))
    func ends() throws {
        let path = try zip([Entry(name: String(repeating: "n", count: 30_000))])
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        func write(_ ends: Int) throws {
            let added = [[UInt8]](repeating: Array(bytes.suffix(22)), count: ends).flatMap { $0 }
            try Data(bytes + added).write(to: URL(filePath: path))
        }
        try write(2_500)
        let error = #expect(throws: FileError.self) { try ZipReader(path) }
        #expect(error?.reason.contains("more than 65535 entries") == true, "\(error?.reason ?? "")")
        // One in the bytes of another entry or in a comment does no harm.
        try write(1)
        #expect(try ZipReader(path).entries.count == 1)
    }

    @Test("Writing says how far it is, and ends with what is thrown then: nothing is left")
    func progress() throws {
        struct Stop: Error {}
        let long = directory + "/long"
        let content = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
        try Data(content).write(to: URL(filePath: long))
        let members = (1...4).map { ZipWriter.Member("part \($0)", file: long) }
        var parts: [Double] = []
        try ZipWriter.write(members, to: directory + "/whole.zip") { parts.append($0) }
        #expect(parts == parts.sorted() && Set(parts).count > 20 && parts.allSatisfy { (0...1).contains($0) })
        #expect(parts.last.map { $0 > 0.95 } == true, "\(parts.suffix(3))")
        let path = directory + "/stopped.zip"
        var calls = 0
        #expect(throws: Stop.self) {
            try ZipWriter.write(members, to: path) { part in
                calls += 1
                if part > 0.3 { throw Stop() }
            }
        }
        #expect(calls < parts.count)
        let left = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasPrefix("stopped") }
        #expect(left.isEmpty, "\(left)")
        let there = #expect(throws: FileError.self) { try ZipWriter.write(members, to: directory + "/whole.zip") }
        #expect(there?.reason.contains("exists") == true, "\(there?.reason ?? "")")
    }

    @Test("A zip that is cut off anywhere, or has a byte changed, is an error or reads as bytes: nothing else")
    func damaged() throws {
        let path = try zip([Entry(name: "one"), Entry(name: "two", content: [UInt8](repeating: 7, count: 300))])
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        for count in 0..<bytes.count {
            try Data(bytes.prefix(count)).write(to: URL(filePath: path))
            #expect(throws: FileError.self, "\(count) bytes") { try ZipReader(path) }
        }
        var refused = 0
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0xFF
            try Data(changed).write(to: URL(filePath: path))
            do {
                let reader = try ZipReader(path)
                for entry in reader.entries { _ = try reader.contents(of: entry, atMost: 1 << 20) }
            } catch is FileError {
                refused += 1
            }
        }
        // Contents have a check sum.
        #expect(refused > 307, "\(refused) of \(bytes.count)")
    }

    @Test("What unpacks to much more than it could be ends there; what we write so is stored, and opens")
    func bombs() throws {
        let zeros = directory + "/zeros"
        try Data().write(to: URL(filePath: zeros))
        let handle = try #require(FileHandle(forWritingAtPath: zeros))
        try handle.truncate(atOffset: UInt64(ZipReader.freeBytes) + (1 << 20))
        try handle.close()
        let path = directory + "/bomb.zip"
        let members = [ZipWriter.Member("zeros", file: zeros)]
        try ZipWriter.write(members, to: path)
        let reader = try ZipReader(path)
        var count = 0
        let error = #expect(throws: FileError.self) { try reader.read(reader.entries[0]) { count += $0.count } }
        // It is refused for what it says, before anything is unpacked.
        #expect(error?.reason.contains("too large when unpacked") == true && count == 0)
        // Nor does it help to say that it is packed into more bytes than the file has.
        var bytes = Array(try Data(contentsOf: URL(filePath: path)))
        let listed = try #require(bytes.indices.last { bytes[$0...].starts(with: [0x50, 0x4B, 1, 2]) })
        bytes.replaceSubrange(listed + 20..<listed + 24, with: number(UInt32(500_000_000)))
        try Data(bytes).write(to: URL(filePath: path + ".lie"))
        let lie = try ZipReader(path + ".lie")
        #expect(throws: FileError.self) { try lie.read(lie.entries[0]) { count += $0.count } }
        #expect(count == 0)
        let safe = try ZipWriter.storingTraps(members, in: path)
        #expect(safe == [ZipWriter.Member("zeros", file: zeros, isStored: true)])
        try ZipWriter.write(safe, to: path + ".2")
        let again = try ZipReader(path + ".2")
        count = 0
        try again.read(again.entries[0]) { count += $0.count }
        #expect(count == ZipReader.freeBytes + (1 << 20))
        for file in [zeros, path, path + ".2"] { try FileManager.default.removeItem(atPath: file) }
    }

    /// A zip with an entry `zeros` of so many of them.
    private func zip(ofZeros count: Int) throws -> String {
        let (zeros, path) = (directory + "/zeros", directory + "/zeros.zip")
        try Data(count: count).write(to: URL(filePath: zeros))
        try ZipWriter.write([ZipWriter.Member("zeros", file: zeros)], to: path)
        return path
    }

    @Test("What compresses well opens within its limits, and where there is no room for it nothing is written")
    func room() throws {
        let path = try zip(ofZeros: 4 << 20)
        let reader = try ZipReader(path)
        let entry = try #require(reader["zeros"])
        #expect(entry.size == 4 << 20)
        let output = directory + "/out"
        let error = #expect(throws: FileError.self) { try reader.extract(entry, to: output) { _ in (4 << 20) - 1 } }
        #expect(error?.reason.contains("unpacks to 4 MiB, and 3 MiB are free") == true)
        #expect(!FileManager.default.fileExists(atPath: output))
        try reader.extract(entry, to: output) { _ in 4 << 20 }
        #expect(try Data(contentsOf: URL(filePath: output)) == Data(count: 4 << 20))
        try reader.extract(entry, to: output + ".2")
        #expect(try #require(FreeSpace.bytes(beside: output)) > 0)
        #expect(try reader.contents(of: entry, atMost: (4 << 20) - 1) == nil)
        #expect(try reader.contents(of: entry, atMost: 4 << 20)?.count == 4 << 20)
    }

    @Test("An entry that unpacks to more than it says is given up there")
    func understated() throws {
        let path = try zip(ofZeros: 8 << 20)
        var bytes = Array(try Data(contentsOf: URL(filePath: path)))
        // The size stands in the list of entries, and perhaps before the entry itself (APPNOTE.TXT 4.3.7, 4.3.12).
        let size: [UInt8] = [0, 0, 0x80, 0]
        for place in bytes.indices.dropLast(4) where bytes[place..<place + 4].elementsEqual(size) {
            bytes.replaceSubrange(place..<place + 4, with: [0, 0x10, 0, 0])
        }
        try Data(bytes).write(to: URL(filePath: path))
        let reader = try ZipReader(path)
        let entry = try #require(reader["zeros"])
        #expect(entry.size == 0x1000)
        var count = 0
        let error = #expect(throws: FileError.self) { try reader.read(entry) { count += $0.count } }
        #expect(error?.reason.hasSuffix("is larger than it claims: it is damaged, or a zip bomb") == true)
        #expect(count <= 0x1000)
    }

    @Test("A directory, a pipe and a text are no zips")
    func noZips() throws {
        #expect(throws: FileError.self) { try ZipReader(directory) }
        #expect(throws: FileError.self) { try ZipReader(directory + "/missing") }
        try Data("PK\u{3}\u{4} and no more".utf8).write(to: URL(filePath: directory + "/text"))
        let error = #expect(throws: FileError.self) { try ZipReader(directory + "/text") }
        #expect(error?.reason.contains("cut off or damaged") == true)
    }
}
