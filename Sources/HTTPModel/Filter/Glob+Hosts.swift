import Text

extension Glob {
    /// The pattern in ASCII form (`xn--`), except labels with wildcards; `nil` if this form is the same pattern.
    var hostInASCII: Glob? {
        let pattern = description
        guard pattern.utf8.contains(where: { $0 >= 0x80 }) else { return nil }
        let labels = HostForms.labels(of: pattern).map { label in
            let isPlain = !label.utf8.contains { "*?[]\\".utf8.contains($0) }
            return isPlain ? HostForms(String(label))?.ascii ?? String(label) : String(label)
        }
        let other = try? Glob(labels.joined(separator: "."), ignoringCase: ignoresCase)
        return other == self ? nil : other
    }
}

extension FilterTest {
    var otherForm: FilterTest? {
        guard case .matches(.text(.host), .glob(let glob)) = self else { return nil }
        return glob.hostInASCII.map { .text(.host, $0) }
    }
}
