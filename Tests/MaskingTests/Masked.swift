import Content
import HTTPModel
import NIOCore

@testable import Masking

/// Texts and bodies masked as an export of one exchange does it: first all is read, then all is replaced.
enum Masked {
    static func rules(
        also: [String] = [],
        except: [String] = [],
        patterns: Set<MaskRules.Pattern> = []
    ) -> MaskRules {
        var rules = MaskRules()
        (rules.also, rules.except, rules.patterns) = (also, except, patterns)
        return rules
    }

    static func text(
        _ text: String,
        _ syntax: ScanSyntax? = .text,
        _ rules: MaskRules = MaskRules(),
        knowing secrets: [String] = [],
        origin: OrdinaryValue.Origin = .response
    ) -> String {
        let mask = TextMask(rules)
        mask.origin = origin
        for secret in secrets {
            let found = FoundSecret(range: 0..<0, kind: .token, name: "known", secret: Array(secret.utf8))
            mask.note(found)
        }
        _ = mask.masked(text, syntax)
        mask.endCollecting()
        return mask.masked(text, syntax) ?? text
    }

    /// A body in pieces that end at these places.
    static func body(
        _ body: [UInt8],
        _ type: String? = "application/json",
        cuts: [Int] = [],
        window: Int = BodyMask.window,
        knowing secrets: [String] = []
    ) -> [UInt8] {
        let mask = TextMask()
        for secret in secrets {
            mask.note(FoundSecret(range: 0..<0, kind: .token, name: "known", secret: Array(secret.utf8)))
        }
        _ = pass(body, type, cuts, window, mask)
        mask.endCollecting()
        return pass(body, type, cuts, window, mask)
    }

    private static func pass(
        _ body: [UInt8],
        _ type: String?,
        _ cuts: [Int],
        _ window: Int,
        _ mask: TextMask
    ) -> [UInt8] {
        let masking = BodyMask(mask, type.flatMap { MediaType($0) }, window: window)
        var output: [UInt8] = []
        var place = 0
        for cut in cuts + [body.count] where cut >= place && cut <= body.count {
            body[place..<cut].withUnsafeBytes { masking.add($0, isLast: false) { output += $0 } }
            place = cut
        }
        masking.add(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) { output += $0 }
        return output
    }

    static func head(_ head: String, isRequest: Bool = true, knowing secrets: [String] = []) -> String {
        let mask = TextMask()
        for secret in secrets {
            mask.note(FoundSecret(range: 0..<0, kind: .token, name: "known", secret: Array(secret.utf8)))
        }
        _ = HeadMask(mask: mask).masked(ByteBuffer(string: head), isRequest: isRequest)
        mask.endCollecting()
        return String(buffer: HeadMask(mask: mask).masked(ByteBuffer(string: head), isRequest: isRequest).0)
    }
}

/// A value that looks made by chance.
let chance = "9f3A7c21Bd08e6Qz"
