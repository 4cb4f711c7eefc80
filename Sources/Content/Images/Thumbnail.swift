package import NIOCore

/// A scaled-down image: each pixel is the mean of the original pixels that it covers.
package struct Thumbnail: Sendable, Hashable {
    package struct ImageError: Error, Sendable, Hashable, CustomStringConvertible {
        package var description: String
    }

    /// A pixel; red, green and blue are premultiplied by alpha (as seen on black).
    package struct Pixel: Sendable, Hashable {
        package var red: UInt8
        package var green: UInt8
        package var blue: UInt8
        /// The opacity: 0 is fully transparent.
        package var alpha: UInt8

        package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8, alpha: UInt8 = 255) {
            (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
        }

        /// The mean of pixels, from the sums of their four values.
        init(_ sums: SIMD4<Int>, count: Int) {
            let mean = SIMD4<UInt8>(clamping: sums / max(1, count))
            self.init(mean.x, mean.y, mean.z, alpha: mean.w)
        }
    }

    package static let mostPixels = 1 << 24
    static let mostBytes = 48 << 20

    package let width: Int
    package let height: Int
    /// The pixels, row by row.
    package let pixels: [Pixel]
    /// Whether the image ended early, so that its lower part is missing.
    package let isCut: Bool

    package static let formats: Set<ImageHeader.Format> = [.png, .jpeg, .webP]

    struct Bounds {
        let width: Int
        let height: Int

        func fitting(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
            let scale = max(1, Double(width) / Double(self.width), Double(height) / Double(self.height))
            return (
                max(1, min(self.width, Int((Double(width) / scale).rounded()))),
                max(1, min(self.height, Int((Double(height) / scale).rounded())))
            )
        }
    }

    /// Scales an image down by averaging. Its pixels are four bytes: red, green, blue (premultiplied by alpha), alpha.
    static func means(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ width: Int,
        _ height: Int,
        to size: (width: Int, height: Int)
    ) -> [Pixel] {
        var pixels: [Pixel] = []
        pixels.reserveCapacity(size.width * size.height)
        for row in 0..<size.height {
            let rows = span(row, of: size.height, in: height)
            for column in 0..<size.width {
                let columns = span(column, of: size.width, in: width)
                var sums = SIMD4<Int>()
                for y in rows {
                    for x in columns {
                        let place = (y * width + x) * 4
                        let pixel = SIMD4(bytes[place], bytes[place + 1], bytes[place + 2], bytes[place + 3])
                        sums &+= SIMD4(truncatingIfNeeded: pixel)
                    }
                }
                pixels.append(Pixel(sums, count: rows.count * columns.count))
            }
        }
        return pixels
    }

    /// The original rows or columns, out of `whole`, that row or column `index` of `count` covers: at least one.
    private static func span(_ index: Int, of count: Int, in whole: Int) -> Range<Int> {
        let start = index * whole / count
        return start..<max(start + 1, (index + 1) * whole / count)
    }
}

extension Thumbnail {
    /// Decodes an image of one of ``formats``; an image smaller than the maximum keeps its size. `goesOn` is called now
    /// and then; `false` ends the decoding. Throws ``ImageError`` if the image cannot be decoded, or is too large.
    package init(
        _ bytes: ByteBuffer,
        _ format: ImageHeader.Format,
        maximumWidth: Int,
        maximumHeight: Int,
        while goesOn: () -> Bool = { true }
    ) throws(ImageError) {
        guard goesOn() else { throw ImageError(description: "it takes too long") }
        let bytes = Array(bytes.readableBytesView)
        let bounds = Bounds(width: max(1, maximumWidth), height: max(1, maximumHeight))
        self =
            switch format {
            case .png: try Thumbnail.png(bytes, bounds, goesOn)
            case .jpeg: try Thumbnail.jpeg(bytes, bounds)
            case .webP: try Thumbnail.webP(bytes, bounds)
            default: throw ImageError(description: "\(format.rawValue) images are not decoded")
            }
    }
}
