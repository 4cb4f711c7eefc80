import Content
import NIOCore

enum DemoContent {
    static let piece = ByteBuffer(bytes: (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* ($0 >> 7)) })
    /// 5 MiB.
    static let downloadPieces = 80
    /// 2 MiB.
    static let uploadPieces = 32

    static func products() -> String {
        let names = ["Lock gate", "Paddle gear", "Windlass", "Mooring ring", "Weir board", "Penstock", "Culvert"]
        let products = names.enumerated().map { index, name in
            """
                {
                  "id": \(index + 1),
                  "name": "\(name)",
                  "price": { "amount": "\(12 * (index + 1)).50", "currency": "EUR" },
                  "tags": ["canal", "\(index.isMultiple(of: 2) ? "iron" : "oak")"],
                  "inStock": \(!index.isMultiple(of: 3))
                }
            """
        }
        return "{\n  \"products\": [\n\(products.joined(separator: ",\n"))\n  ],\n  \"total\": \(names.count)\n}\n"
    }

    static func articles() -> String {
        let text = "A sluice lets through what it is meant to let through, and shows how much of it there was."
        let articles = (1...40).map {
            "  { \"id\": \($0), \"title\": \"Notes on water, part \($0)\", \"text\": \"\(text)\" }"
        }
        return "[\n\(articles.joined(separator: ",\n"))\n]\n"
    }

    static func page(title: String, text: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>\(title)</title></head>
        <body><h1>\(title)</h1><p>\(text)</p></body>
        </html>

        """
    }

    /// The status 1000 of a WebSocket's close frame (RFC 6455 §7.4.1).
    static let normalClosure = ByteBuffer(bytes: [0x03, 0xE8])
    static let callPath = "/locks.v1.Locks/GetLevel"

    /// A message of gRPC: a name as field 1, and a number as field 2.
    static func call(lock: String, metres: UInt8? = nil) -> ByteBuffer {
        var message = ByteBuffer(bytes: [0x0A, UInt8(lock.utf8.prefix(127).count)] + Array(lock.utf8.prefix(127)))
        if let metres { message.writeBytes([0x10, metres & 0x7F]) }
        var framed = ByteBuffer(bytes: [0])
        framed.writeInteger(UInt32(message.readableBytes))
        framed.writeBuffer(&message)
        return framed
    }

    /// A PNG picture of water (RFC 2083).
    static func picture(width: Int = 192, height: Int = 128) throws -> ByteBuffer {
        var rows = ByteBuffer()
        for y in 0..<height {
            rows.writeInteger(UInt8(0))  // This row is not filtered.
            for x in 0..<width {
                let wave = (x + y * y / 24) % 32 < 4 ? 60 : 0
                rows.writeBytes([UInt8(20 + wave), UInt8(70 + y / 2 + wave), UInt8(130 + y / 4 + wave)])
            }
        }
        var header = ByteBuffer()
        header.writeMultipleIntegers(UInt32(width), UInt32(height))
        header.writeBytes([8, 2, 0, 0, 0])  // 8 bits, RGB, deflate, no interlacing.
        var picture = ByteBuffer(bytes: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        writeChunk("IHDR", header, into: &picture)
        writeChunk("IDAT", try ContentEncoder.encode(rows, coding: .deflate), into: &picture)
        writeChunk("IEND", ByteBuffer(), into: &picture)
        return picture
    }

    private static func writeChunk(_ type: String, _ data: ByteBuffer, into picture: inout ByteBuffer) {
        var chunk = ByteBuffer(string: type)
        chunk.writeImmutableBuffer(data)
        var checksum = CRC32()
        checksum.add(chunk)
        picture.writeInteger(UInt32(data.readableBytes))
        picture.writeBuffer(&chunk)
        picture.writeInteger(checksum.value)
    }
}

/// The checksum of PNG, gzip and Ethernet.
struct CRC32 {
    private var state = UInt32.max

    var value: UInt32 { ~state }

    mutating func add(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { bytes in
            CRC32.table.withUnsafeBufferPointer { table in
                for byte in bytes { state = table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ state >> 8 }
            }
        }
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }
}
