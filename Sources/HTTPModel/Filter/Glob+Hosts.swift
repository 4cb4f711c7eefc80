import Text

extension Glob {
    /// The same pattern for hosts as the name system has them: with `xn--` in place of letters outside ASCII. Labels
    /// with a wildcard stay. `nil` if that changes nothing.
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
    /// What is asked along with it, since a host has another form; `nil` for nearly all.
    var otherForm: FilterTest? {
        guard case .text(.host, let glob) = self else { return nil }
        return glob.hostInASCII.map { .text(.host, $0) }
    }
}
