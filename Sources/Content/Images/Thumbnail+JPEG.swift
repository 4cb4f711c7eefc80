internal import CTurboJPEG

extension Thumbnail {
    /// Decodes a JPEG image; the library scales it down to as little as an eighth, if that is still large enough.
    static func jpeg(_ bytes: [UInt8], _ bounds: Bounds) throws(ImageError) -> Thumbnail {
        guard let decoder = tjInitDecompress() else { throw ImageError(description: "there is no memory for it") }
        defer { tjDestroy(decoder) }
        var (width, height, sampling, space) = (CInt(0), CInt(0), CInt(0), CInt(0))
        let length = UInt(bytes.count)
        guard tjDecompressHeader3(decoder, bytes, length, &width, &height, &sampling, &space) == 0, width > 0,
            height > 0
        else { throw ImageError(description: "its header cannot be read") }
        let size = bounds.fitting(Int(width), Int(height))
        // The library halves at most three times, and keeps all coefficients of a progressive image in memory.
        let shift = (0...3).last { Int(width) >> $0 >= size.width && Int(height) >> $0 >= size.height } ?? 0
        let divisor = 1 << shift
        let scaled = ((Int(width) + divisor - 1) / divisor, (Int(height) + divisor - 1) / divisor)
        guard Int(width) * Int(height) <= mostPixels, scaled.0 * scaled.1 * 4 <= mostBytes else {
            throw ImageError(description: "it is too large")
        }
        var pixels = [UInt8](repeating: 0, count: scaled.0 * scaled.1 * 4)
        let flags = TJFLAG_LIMITSCANS | TJFLAG_FASTDCT | TJFLAG_FASTUPSAMPLE
        let (columns, rows) = (CInt(scaled.0), CInt(scaled.1))
        let format = CInt(TJPF_RGBA.rawValue)
        let code = tjDecompress2(decoder, bytes, length, &pixels, columns, columns * 4, rows, format, CInt(flags))
        // A warning means that the image ends early, or that it has wrong bytes.
        let isWarning = code != 0 && tjGetErrorCode(decoder) == CInt(TJERR_WARNING.rawValue)
        guard code == 0 || isWarning else { throw ImageError(description: "its pixels cannot be decoded") }
        let means = pixels.withUnsafeBufferPointer { Thumbnail.means($0, scaled.0, scaled.1, to: size) }
        return Thumbnail(width: size.width, height: size.height, pixels: means, isCut: isWarning)
    }
}
