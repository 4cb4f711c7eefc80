/// The beginning of a sequence: `ESC [` or `ESC O`.
enum Introducer: Sendable { case csi, ss3 }

struct ControlSequence {
    private let introducer: Introducer
    /// `?`, `<`, `=` or `>` in front of the parameters.
    private let marker: UInt8?
    private let hasIntermediates: Bool
    /// The parameters, each divided at colons into parts; `nil` for an empty part.
    private let parameters: [[Int?]]
    private let final: UInt8

    init(_ introducer: Introducer, _ bytes: [UInt8], final: UInt8) {
        self.introducer = introducer
        self.final = final
        let marker = bytes.first.flatMap { (0x3C...0x3F).contains($0) ? $0 : nil }
        self.marker = marker
        hasIntermediates = bytes.contains { $0 < 0x30 }
        let text = bytes.dropFirst(marker == nil ? 0 : 1)
        let fields = text.isEmpty ? [] : text.split(separator: 0x3B, omittingEmptySubsequences: false)
        parameters = fields.map { field in
            field.split(separator: 0x3A, omittingEmptySubsequences: false).map(ControlSequence.number)
        }
    }

    /// Digits as a number, at most 10,000,000.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { min($0 * 10 + Int($1 - 0x30), 10_000_000) }
    }

    private func parameter(_ index: Int, part: Int = 0) -> Int? {
        guard index < parameters.count, part < parameters[index].count else { return nil }
        return parameters[index][part]
    }

    func event(alt: Bool) -> InputEvent? {
        if marker == 0x3C, introducer == .csi, final == 0x4D || final == 0x6D {
            return mouse(button: parameter(0), isRelease: final == 0x6D)
        }
        guard marker == nil, !hasIntermediates else { return nil }
        if introducer == .csi, final == 0x4D { return mouse(button: parameter(0).map { $0 - 32 }, isRelease: nil) }
        guard var key = key() else { return nil }
        if alt { key.modifiers.insert(.alt) }
        return .key(key)
    }

    private func mouse(button: Int?, isRelease: Bool?) -> InputEvent? {
        guard let button, button >= 0, let x = parameter(1), let y = parameter(2) else { return nil }
        return MouseEvent(button: button, x: x, y: y, isRelease: isRelease ?? (button & 0b110_0011 == 3))
            .map(InputEvent.mouse)
    }

    private func key() -> Key? {
        switch final {
        case 0x7E: return tildeKey(modifiers: modifiers(parameter(1)))
        case 0x24: return tildeKey(modifiers: .shift)
        case 0x5E: return tildeKey(modifiers: .control)
        case 0x40: return tildeKey(modifiers: [.control, .shift])
        case 0x75 where introducer == .csi: return unicodeKey(code: parameter(0), modifiers: parameter(1))
        case 0x5A where introducer == .csi: return Key(.tab, modifiers(parameter(1)).union(.shift))
        case 0x61...0x64:
            // rxvt: arrows with shift, and with control.
            guard parameters.isEmpty, let code = ControlSequence.letters[final - 0x20] else { return nil }
            return Key(code, introducer == .csi ? .shift : .control)
        default: break
        }
        if let code = ControlSequence.letters[final] {
            // A report of the cursor position ends like F3 (`R`), but its first parameter is a row.
            if final == 0x52, (parameter(0) ?? 1) != 1 { return nil }
            // Old terminals leave out the 1 before the modifiers.
            return Key(code, modifiers(parameter(1) ?? (parameters.count == 1 ? parameter(0) : nil)))
        }
        guard introducer == .ss3, let code = ControlSequence.keypad[final] else { return nil }
        return Key(code, modifiers(parameter(1) ?? parameter(0))).normal
    }

    private func tildeKey(modifiers: Key.Modifiers) -> Key? {
        guard let number = parameter(0), introducer == .csi else { return nil }
        if number == 27, final == 0x7E { return unicodeKey(code: parameter(2), modifiers: parameter(1)) }
        return ControlSequence.numbers[number].map { Key($0, modifiers) }
    }

    /// A key by its code point, as kitty and xterm's `modifyOtherKeys` send it.
    private func unicodeKey(code: Int?, modifiers field: Int?) -> Key? {
        // Kitty can also report the release of a key, which is ignored.
        guard let code, parameter(1, part: 1) != 3 || final == 0x7E else { return nil }
        let modifiers = modifiers(field)
        if let known = ControlSequence.kittyCodes[code] { return Key(known, modifiers).normal }
        if (57_399...57_408).contains(code) {
            return Key(.character(Character(Unicode.Scalar(UInt8(code - 57_399 + 0x30)))), modifiers).normal
        }
        if (57_376...57_398).contains(code) { return Key(.function(code - 57_376 + 13), modifiers) }
        guard !(57_344...63_743).contains(code), let scalar = Unicode.Scalar(UInt32(code)) else { return nil }
        if scalar.isASCII { return Key(controlOrASCII: UInt8(scalar.value), modifiers) }
        return scalar.value < 0xA0 ? nil : Key(.character(Character(scalar)), modifiers).normal
    }

    private func modifiers(_ field: Int?) -> Key.Modifiers {
        guard let field, field > 0 else { return [] }
        return Key.Modifiers(rawValue: UInt8(truncatingIfNeeded: field - 1) & 7)
    }

    private static let letters: [UInt8: Key.Code] = [
        0x41: .up, 0x42: .down, 0x43: .right, 0x44: .left, 0x46: .end, 0x48: .home,
        0x50: .function(1), 0x51: .function(2), 0x52: .function(3), 0x53: .function(4),
    ]

    /// The keypad in application mode.
    private static let keypad: [UInt8: Key.Code] = {
        var codes: [UInt8: Key.Code] = [0x4D: .enter, 0x49: .tab, 0x20: .character(" "), 0x58: .character("=")]
        for (index, character) in "*+,-./0123456789".enumerated() { codes[0x6A + UInt8(index)] = .character(character) }
        return codes
    }()

    private static let numbers: [Int: Key.Code] = {
        var codes: [Int: Key.Code] = [
            1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
        ]
        let functions = [11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34]
        for (index, number) in functions.enumerated() { codes[number] = .function(index + 1) }
        return codes
    }()

    /// Kitty's code points for keys of the keypad.
    private static let kittyCodes: [Int: Key.Code] = [
        57_409: .character("."), 57_410: .character("/"), 57_411: .character("*"), 57_412: .character("-"),
        57_413: .character("+"), 57_414: .enter, 57_415: .character("="), 57_416: .character(","), 57_417: .left,
        57_418: .right, 57_419: .up, 57_420: .down, 57_421: .pageUp, 57_422: .pageDown, 57_423: .home, 57_424: .end,
        57_425: .insert, 57_426: .delete,
    ]
}

extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }
}

extension Key {
    /// The key of an ASCII byte, including control characters.
    init(controlOrASCII byte: UInt8, _ modifiers: Modifiers) {
        switch byte {
        case 0x00: self.init(.character(" "), modifiers.union(.control))
        case 0x08, 0x7F: self.init(.backspace, modifiers)
        case 0x09: self.init(.tab, modifiers)
        case 0x0A, 0x0D: self.init(.enter, modifiers)
        case 0x1B: self.init(.escape, modifiers)
        case 0x01...0x1A: self.init(.character(Character(Unicode.Scalar(byte + 0x60))), modifiers.union(.control))
        case 0x1C...0x1F: self.init(.character(Character(Unicode.Scalar(byte + 0x40))), modifiers.union(.control))
        default: self = Key(.character(Character(Unicode.Scalar(byte))), modifiers).normal
        }
    }

    /// The key as plain terminals send it: shift changes the character, and control has a lower-case letter.
    var normal: Key {
        guard case .character(let character) = code else { return self }
        var key = self
        if modifiers.contains(.control) {
            key.code = .character(Key.lowered(character))
        } else if modifiers.contains(.shift) {
            let capital = character.uppercased()
            if capital.count == 1, let first = capital.first { key.code = .character(first) }
        }
        if character != " " { key.modifiers.remove(.shift) }
        return key
    }
}

extension MouseEvent {
    /// The event of a mouse report, whose column and row count from 1; `nil` for buttons that Sluice does not use.
    init?(button: Int, x: Int, y: Int, isRelease: Bool) {
        guard button & 128 == 0, x > 0, y > 0 else { return nil }
        let kind: Kind
        switch (button & 64 != 0, button & 3) {
        case (false, _) where isRelease: kind = .release
        case _ where isRelease: return nil
        case (true, 0): kind = .wheelUp
        case (true, 1): kind = .wheelDown
        case (false, 0): kind = button & 32 != 0 ? .drag : .press
        default: return nil
        }
        self.init(kind, x: min(x, 65_535) - 1, y: min(y, 65_535) - 1)
    }
}

extension TerminalBackground {
    /// The reply to ``query``, an OSC sequence: `11;rgb:1e1e/1e1e/2e2e`.
    init?(osc bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let prefix = ["11;rgb:", "11;rgba:"].first(where: text.hasPrefix) else { return nil }
        let parts = text.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false).compactMap {
            digits -> UInt8? in
            guard (1...4).contains(digits.count), let value = UInt32(digits, radix: 16) else { return nil }
            let most: UInt32 = (1 << (4 * UInt32(digits.count))) - 1
            return UInt8((value * 255 + most / 2) / most)
        }
        guard parts.count >= 3 else { return nil }
        self.init(red: parts[0], green: parts[1], blue: parts[2])
    }
}
