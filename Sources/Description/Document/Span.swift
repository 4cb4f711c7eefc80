package struct Span: Sendable, Hashable {
    /// The text, without control characters.
    package var text: String
    package var role: Role
    /// The upper and the lower pixel of each half block in an image's preview, in colours of the 256-colour palette.
    package var pixels: SIMD2<UInt8>?

    package init(_ text: String, _ role: Role = .text, pixels: SIMD2<UInt8>? = nil) {
        self.text = text
        self.role = role
        self.pixels = pixels
    }
}
