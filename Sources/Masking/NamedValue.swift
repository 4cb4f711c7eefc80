/// What a name that may say a secret asks of its value: of a PIN digits, of a ticket that it looks made by chance.
enum NamedValue {
    /// Codes that have digits; a word under their names is something else, as the place of a pin.
    private static let withDigits: Set<String> = [
        "pin", "pincode", "userpin", "cvv", "cvc", "cvv2", "cvc2", "cvvcode", "cvccode", "securitycode", "otp", "totp",
        "mfacode", "smscode", "otpcode", "totpcode",
    ]
    /// A ticket may be one of a list of faults, a key of SSH the name of one, an assertion that of a test, and SAS a kind of disk.
    private static let byChance: Set<String> = ["ticket", "sshkey", "assertion", "sas"]
    /// A way of logging in rather than what one logs in with.
    private static let ways: Set<String> = ["authentication", "credential", "credentials"]

    /// Whether a value is none under a name: `isAfterScheme` where a scheme of credentials stood before it.
    static func isOrdinary(
        _ value: UnsafeRawBufferPointer,
        _ kind: SecretKind,
        name: some Collection<UInt8>,
        isAfterScheme: Bool
    ) -> Bool {
        guard kind != .named, name.count <= 40 else { return false }
        let plain = SecretNames.normalised(String(decoding: name, as: UTF8.self))
        if withDigits.contains(plain) { return !value.contains { $0 &- 0x30 < 10 } }
        // mustChangePassword=1
        if kind == .password, value.count == 1, plain.utf8.count > 9, value[0] == 0x30 || value[0] == 0x31 {
            return true
        }
        if byChance.contains(plain) { return !ValueShape.isMadeByChance(value, least: 12) }
        if ways.contains(plain) {
            // The word after a scheme may be one of a title: Basic authentication.
            if isAfterScheme { return value.allSatisfy { $0 | 0x20 &- 0x61 < 26 } && value.count < 20 }
            return !value.contains(UInt8(ascii: ":")) && !ValueShape.isMadeByChance(value, least: 8)
        }
        switch plain {
        case "mnemonic", "seedphrase":
            return value.count { $0 == 0x20 || $0 == UInt8(ascii: "+") } < 5
                && !ValueShape.isMadeByChance(value, least: 12)
        // Of tests that pass there is a number.
        case "pass": if value.count <= 3, value.allSatisfy({ $0 &- 0x30 < 10 }) { return true }
        case "sid": if isSecurityIdentifier(value) { return true }
        default: break
        }
        return isOwnName(value, plain)
    }

    /// Whether a value is the name itself, as a label has it: `"apiKey": "API key"`.
    static func isOwnName(_ value: UnsafeRawBufferPointer, _ name: String) -> Bool {
        guard value.count <= name.utf8.count + 6, value.count >= min(name.utf8.count, 8),
            value.allSatisfy({ ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || " _-.".utf8.contains($0) })
        else { return false }
        let plain = SecretNames.normalised(String(decoding: value, as: UTF8.self))
        return plain == name
            || plain.utf8.count >= 8 && name.hasSuffix(plain) && !plain.utf8.contains { $0 &- 0x30 < 10 }
    }

    /// Whether a value is the identifier of an account of Windows, `S-1-5-21-…`, or of a service, `AC` and 32 digits.
    private static func isSecurityIdentifier(_ value: UnsafeRawBufferPointer) -> Bool {
        if value.starts(with: "S-1-".utf8) {
            return value.dropFirst(4).allSatisfy { $0 &- 0x30 < 10 || $0 == UInt8(ascii: "-") }
        }
        return value.count == 34 && value.prefix(2).allSatisfy { $0 &- 0x41 < 26 }
            && value.dropFirst(2).allSatisfy(ValueShape.isHexadecimal)
    }
}
