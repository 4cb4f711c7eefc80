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

    /// `nil` for a body in which variables stand for its secrets, and for one that is not masked.
    init?(_ body: [UInt8], of number: ExchangeID, _ source: any ExchangeSource) {
        guard let masked = source as? MaskedSource, let whole = MaskedWhole(body, masked.mask.book) else { return nil }
        let reason =
            switch whole {
            case .packed: "is masked whole, as its secrets are in compressed data"
            case .wide: "has masked secrets and is text in UTF-16"
            }
        variable = "SLUICE_BODY_\(number)"
        meaning = "path of a file that has the body of \(number), which \(reason)"
        remark = "the body \(reason); it is read from the file that \(variable) names"
    }

    /// The path in a command of a shell, which ends there where the variable is not set.
    var path: String { "${\(variable):?set it to the \(meaning)}" }

    /// The line of a program that ends it there.
    func guards(python literal: (String) -> String) -> String {
        "if not os.environ.get(\"\(variable)\"): raise SystemExit(\(literal("set \(variable) to the \(meaning)")))\n"
    }
}
