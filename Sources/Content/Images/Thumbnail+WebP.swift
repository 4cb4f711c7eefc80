internal import CWebP

extension Thumbnail {
    /// Decodes a WebP image without animation; the library scales it down.
    static func webP(_ bytes: [UInt8], _ bounds: Bounds) throws(ImageError) -> Thumbnail {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0, WebPGetFeatures(bytes, bytes.count, &config.input) == VP8_STATUS_OK
        else { throw ImageError(description: "its header cannot be read") }
        guard config.input.has_animation == 0 else { throw ImageError(description: "it is animated") }
        let (width, height) = (Int(config.input.width), Int(config.input.height))
        guard width > 0, height > 0, width * height <= mostPixels else {
            throw ImageError(description: "it is too large")
        }
        let size = bounds.fitting(width, height)
        config.options.use_scaling = 1
        config.options.scaled_width = CInt(size.width)
        config.options.scaled_height = CInt(size.height)
        // Red, green and blue are premultiplied by alpha.
        config.output.colorspace = MODE_rgbA
        var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
        let status = pixels.withUnsafeMutableBufferPointer { pixels in
            config.output.is_external_memory = 1
            config.output.u.RGBA.rgba = pixels.baseAddress
            config.output.u.RGBA.stride = CInt(size.width * 4)
            config.output.u.RGBA.size = pixels.count
            return WebPDecode(bytes, bytes.count, &config)
        }
        let isCut = status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED
        guard status == VP8_STATUS_OK || isCut else { throw ImageError(description: "its pixels cannot be decoded") }
        let means = pixels.withUnsafeBufferPointer { Thumbnail.means($0, size.width, size.height, to: size) }
        return Thumbnail(width: size.width, height: size.height, pixels: means, isCut: isCut)
    }
}
