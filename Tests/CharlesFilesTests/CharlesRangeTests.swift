import Testing

@Suite("Numbers in Charles' settings")
struct CharlesRangeTests {
    @Test(
        "Whatever a number is, the profile that is made can be loaded, and written again",
        arguments: 0..<HostileNumbers.count(CharlesProbe.template)
    )
    func numbers(_ place: Int) throws {
        for text in HostileNumbers.texts {
            let xml = HostileNumbers.filled(CharlesProbe.template) { $0 == place ? text : nil }
            #expect(throws: Never.self, "number \(place) is \(text)") { try CharlesProbe.read(Array(xml.utf8)) }
        }
    }

    @Test("No seed fails", arguments: CharlesProbe.seeds.indices)
    func seed(_ index: Int) throws {
        try CharlesProbe.run(CharlesProbe.seeds[index])
    }
}
