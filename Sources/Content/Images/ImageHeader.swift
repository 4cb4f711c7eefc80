package import NIOCore

package struct ImageHeader: Sendable, Hashable {
    package enum Format: String, Sendable, Hashable, CaseIterable {
        case png = "PNG"
        case jpeg = "JPEG"
        case gif = "GIF"
        case webP = "WebP"
        case bmp = "BMP"
        /// AV1 or HEVC images in an ISO base media file.
        case avif = "AVIF"
        /// A Windows icon; its size is that of its largest image.
        case icon = "ICO"
    }

    package var format: Format
    /// In pixels; 0 if unknown.
    package var width: Int
    package var height: Int
    /// Other details, for example `8 bits, RGB with alpha`; may be empty.
    package var remark: String

    /// The allowed width and height in pixels; any other size counts as unknown.
    static let sides = 1...1 << 24

    private init(_ format: Format, _ width: Int, _ height: Int, _ remark: String = "") {
        self.format = format
        let isSize = ImageHeader.sides.contains(width) && ImageHeader.sides.contains(height)
        (self.width, self.height) = isSize ? (width, height) : (0, 0)
        self.remark = remark
    }

    /// Reads an image's header from the first 64 KiB; `nil` if the format is unknown.
    package init?(_ bytes: ByteBuffer) {
        let reader = ImageBytes(bytes: Array(bytes.readableBytesView.prefix(64 * 1024)))
        let forms = [Self.png, Self.jpeg, Self.gif, Self.webP, Self.bmp, Self.avif, Self.icon]
        guard let header = forms.lazy.compactMap({ $0(reader) }).first else { return nil }
        self = header
    }

    private static func png(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes.has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], at: 0) else { return nil }
        guard bytes.has("IHDR", at: 12), let width = bytes.big(4, at: 16), let height = bytes.big(4, at: 20),
            let depth = bytes.big(1, at: 24), let type = bytes.big(1, at: 25), let interlace = bytes.big(1, at: 28)
        else { return ImageHeader(.png, 0, 0) }
        let colours = [0: "grey", 2: "RGB", 3: "palette", 4: "grey with alpha", 6: "RGB with alpha"][type]
        let remark = "\(depth) bits, \(colours ?? "unknown colours")\(interlace == 1 ? ", interlaced" : "")"
        return ImageHeader(.png, width, height, remark)
    }

    private static func gif(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes.has("GIF87a", at: 0) || bytes.has("GIF89a", at: 0) else { return nil }
        return ImageHeader(.gif, bytes.little(2, at: 6) ?? 0, bytes.little(2, at: 8) ?? 0)
    }

    private static func bmp(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes.has("BM", at: 0), let size = bytes.little(4, at: 14), (12...256).contains(size) else { return nil }
        if size == 12 { return ImageHeader(.bmp, bytes.little(2, at: 18) ?? 0, bytes.little(2, at: 20) ?? 0) }
        // The height is negative if the rows are stored from top to bottom.
        let height = bytes.little(4, at: 22).map { Int(Int32(truncatingIfNeeded: $0).magnitude) }
        let depth = bytes.little(2, at: 28).map { "\($0) bits" }
        return ImageHeader(.bmp, bytes.little(4, at: 18) ?? 0, height ?? 0, depth ?? "")
    }

    private static func icon(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes.has([0, 0, 1, 0], at: 0), let count = bytes.little(2, at: 4), count > 0, count < 1024 else {
            return nil
        }
        var largest = (width: 0, height: 0)
        for index in 0..<count {
            guard let width = bytes.little(1, at: 6 + index * 16), let height = bytes.little(1, at: 7 + index * 16)
            else { break }
            // 0 stands for 256.
            let size = (width: width == 0 ? 256 : width, height: height == 0 ? 256 : height)
            if size.width * size.height > largest.width * largest.height { largest = size }
        }
        return ImageHeader(.icon, largest.width, largest.height, count == 1 ? "1 image" : "\(count) images")
    }

    private static func webP(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes.has("RIFF", at: 0), bytes.has("WEBP", at: 8) else { return nil }
        if bytes.has("VP8X", at: 12), let width = bytes.little(3, at: 24), let height = bytes.little(3, at: 27) {
            let isAnimated = (bytes.little(1, at: 20) ?? 0) & 0x02 != 0
            return ImageHeader(.webP, width + 1, height + 1, isAnimated ? "animated" : "extended")
        }
        if bytes.has("VP8L", at: 12), bytes.has([0x2F], at: 20), let bits = bytes.little(4, at: 21) {
            return ImageHeader(.webP, bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1, "lossless")
        }
        if bytes.has("VP8 ", at: 12), bytes.has([0x9D, 0x01, 0x2A], at: 23), let width = bytes.little(2, at: 26),
            let height = bytes.little(2, at: 28)
        {
            return ImageHeader(.webP, width & 0x3FFF, height & 0x3FFF, "lossy")
        }
        return ImageHeader(.webP, 0, 0)
    }

    /// Searches the segments for the first start of frame (SOF), which has the size.
    private static func jpeg(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes.has([0xFF, 0xD8, 0xFF], at: 0) else { return nil }
        var place = 2
        while let marker = bytes.big(1, at: place + 1), bytes.has([0xFF], at: place) {
            switch marker {
            case 0xFF: place += 1
            case 0x01, 0xD0...0xD8: place += 2
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                let remark = marker == 0xC2 || marker == 0xCA ? "progressive" : ""
                return ImageHeader(.jpeg, bytes.big(2, at: place + 7) ?? 0, bytes.big(2, at: place + 5) ?? 0, remark)
            default:
                guard let length = bytes.big(2, at: place + 2), length >= 2, marker != 0xD9, marker != 0xDA else {
                    return ImageHeader(.jpeg, 0, 0)
                }
                place += 2 + length
            }
        }
        return ImageHeader(.jpeg, 0, 0)
    }

    /// Searches the `ispe` boxes, which have image sizes, for the largest.
    private static func avif(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes.has("ftyp", at: 4), let brand = bytes.text(4, at: 8),
            ["avif", "avis", "mif1", "heic", "heix", "msf1"].contains(brand)
        else { return nil }
        var largest = (width: 0, height: 0)
        for place in bytes.places(of: "ispe") {
            guard let width = bytes.big(4, at: place + 8), let height = bytes.big(4, at: place + 12) else { break }
            guard sides.contains(width), sides.contains(height) else { continue }
            if width * height > largest.width * largest.height { largest = (width, height) }
        }
        return ImageHeader(.avif, largest.width, largest.height, brand.hasPrefix("hei") ? "HEIC" : "")
    }
}

/// Reads numbers; `nil` beyond the end.
private struct ImageBytes {
    let bytes: [UInt8]

    private func bytes(_ count: Int, at place: Int) -> ArraySlice<UInt8>? {
        place >= 0 && place + count <= bytes.count ? bytes[place..<place + count] : nil
    }

    func big(_ count: Int, at place: Int) -> Int? { bytes(count, at: place)?.reduce(0) { $0 << 8 | Int($1) } }

    func little(_ count: Int, at place: Int) -> Int? {
        bytes(count, at: place)?.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    func has(_ wanted: [UInt8], at place: Int) -> Bool {
        bytes(wanted.count, at: place)?.elementsEqual(wanted) ?? false
    }

    func has(_ wanted: String, at place: Int) -> Bool { has(Array(wanted.utf8), at: place) }

    func text(_ count: Int, at place: Int) -> String? {
        bytes(count, at: place).map { String(decoding: $0, as: UTF8.self) }
    }

    func places(of wanted: String) -> [Int] {
        let wanted = Array(wanted.utf8)
        guard bytes.count >= wanted.count else { return [] }
        return (0...bytes.count - wanted.count).filter { has(wanted, at: $0) }
    }
}
