import HTTPModel
import Masking
import NIOCore
import Text

/// A masked body in which no variable can stand for a secret. A command or a program reads it from a file that a variable names,
/// and sends nothing where that is not set.
struct HeldBody {
    let variable: String
    /// What the variable is to name.
    let meaning: String
    /// What a command says of it.
    let remark: String

    /// `nil` for a body in which variables stand for its secrets, and for one that is not masked; `bytes` is its beginning. Throws
    /// the source's error.
    init?(_ bytes: [UInt8], _ body: RecordedBody, isCoded: Bool) throws {
        guard let masked = body.masked else { return nil }
        let reason: String
        switch MaskedWhole(bytes, masked.mask.book) {
        case .packed: reason = "is masked whole, as its secrets are in compressed data"
        case .wide: reason = "has masked secrets and is text in UTF-16"
        case nil:
            guard bytes.isEmpty, try !body.isEmpty else { return nil }
            reason = "is left out, as it cannot be decoded to look for secrets"
        }
        variable = HeldBody.variable(of: body.id)
        // What the peer wrote there stays out of it: a shell would read it.
        let form = isCoded ? ", as it was recorded with its Content-Encoding," : ""
        meaning = "path of a file that has the body of \(body.id)\(form) which \(reason)"
        remark = "the body \(reason); it is read from the file that \(variable) names"
    }

    /// The variable that names a file with the body of an exchange's request.
    static func variable(of number: ExchangeID) -> String { "SLUICE_BODY_\(number)" }

    /// The path in a command of a shell, which ends there where the variable is not set.
    var path: String { "${\(variable):?set it to the \(meaning)}" }

    /// The line of a program that ends it there.
    func guards(python literal: (String) -> String) -> String {
        "if not os.environ.get(\"\(variable)\"): raise SystemExit(\(literal("set \(variable) to the \(meaning)")))\n"
    }
}
