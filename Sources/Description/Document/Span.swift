/// A run of text with one meaning.
package struct Span: Sendable, Hashable {
    /// The text, without control characters.
    package var text: String
    package var role: Role
    /// The colours of the 256-colour palette in which each half block of the text is drawn: first the upper pixel (the
    /// foreground), then the lower one (the background). `nil` for everything but previews of images.
    package var pixels: SIMD2<UInt8>?

    package init(_ text: String, _ role: Role = .text, pixels: SIMD2<UInt8>? = nil) {
        self.text = text
        self.role = role
        self.pixels = pixels
    }
}
