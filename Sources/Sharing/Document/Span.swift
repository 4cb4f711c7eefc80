/// A run of text with one meaning.
package struct Span: Sendable {
    /// The text, without control characters.
    package var text: String
    package var role: Role
    /// The colours of the 256-colour palette in which each half block of the text is drawn: first the upper pixel (the
    /// foreground), then the lower one (the background). `nil` for everything but previews of images.
    package var pixels: (UInt8, UInt8)?

    package init(_ text: String, _ role: Role = .text, pixels: (UInt8, UInt8)? = nil) {
        self.text = text
        self.role = role
        self.pixels = pixels
    }
}

extension Span: Hashable {
    package static func == (left: Span, right: Span) -> Bool {
        left.role == right.role && left.text == right.text && left.pixels?.0 == right.pixels?.0
            && left.pixels?.1 == right.pixels?.1
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(text)
        hasher.combine(role)
        hasher.combine(pixels?.0)
        hasher.combine(pixels?.1)
    }
}
