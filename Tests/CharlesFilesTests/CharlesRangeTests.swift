import Support
import Testing

@Suite("Numbers in Charles' settings")
struct CharlesRangeTests {
    @Test(
        "Whatever a number is, the profile that is made can be loaded, and written again",
        arguments: 0..<HostileNumbers.count(CharlesProbe.template)
    )
    func numbers(_ place: Int) {
        HostileNumbers.expect(CharlesProbe.template, at: place) { try CharlesProbe.read($0) }
    }
}
