/// What stands under the type of a form, which `curl -d` names for whatever it sends.
enum FormSyntax {
    /// JSON and XML by how they begin; else a form.
    static func of(_ beginning: [UInt8]) -> ScanSyntax {
        let rest = beginning.drop { $0 <= 0x20 }
        // `[0]=a` is a form.
        let next = rest.dropFirst().first { $0 > 0x20 }
        switch (rest.first, next) {
        case (UInt8(ascii: "{"), UInt8(ascii: "\"")), (UInt8(ascii: "["), UInt8(ascii: "\"")),
            (UInt8(ascii: "["), UInt8(ascii: "{")), (UInt8(ascii: "["), UInt8(ascii: "[")):
            return .text
        case (UInt8(ascii: "<"), let next?) where ValueShape.isLetterOrDigit(next) || "?!".utf8.contains(next):
            return .markup
        default: return .form
        }
    }
}
