import HTTPModel
import Testing

@Suite("Crumbs of cookies")
struct CookieCrumbTests {
    private func section(_ fields: [(String, [UInt8])]) -> FieldSection {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, bytes: value) }
        return section
    }

    @Test("Crumbs are joined in the line of the first one, byte for byte, and put back there")
    func joined() {
        let a = Array("a=".utf8) + [0xE9]
        let received = section([("x", []), ("cookie", a), ("y", []), ("Cookie", Array("b=2; c=3".utf8))])
        var fields = received
        fields.joinCookies()
        #expect(fields.map(\.name) == ["x", "cookie", "y"])
        #expect(Array(fields[1].valueBytes) == a + Array("; b=2; c=3".utf8))
        fields.append("z", "")
        fields.remove(at: 0)
        fields.splitCookies(as: received)
        #expect(fields.map(\.name) == ["cookie", "cookie", "y", "z"])
        #expect(fields.prefix(2).map { Array($0.valueBytes) } == [a, Array("b=2; c=3".utf8)])
    }

    @Test("One line or none is left alone; so is one that has changed since the crumbs were joined")
    func others() {
        for lines in [[], ["a=1"]] {
            var fields = section(lines.map { ("cookie", Array($0.utf8)) })
            let revision = fields.revision
            fields.joinCookies()
            #expect(fields.values(of: .cookie) == lines)
            #expect(fields.revision == revision)
        }
        let received = section([("cookie", Array("a=1".utf8)), ("cookie", Array("b=2".utf8))])
        var changed = received
        changed.joinCookies()
        changed.setValue("a=1; b=3", at: 0)
        changed.splitCookies(as: received)
        #expect(changed.values(of: .cookie) == ["a=1; b=3"])
        changed.removeAll(.cookie)
        changed.splitCookies(as: received)
        #expect(changed.isEmpty)
    }
}
