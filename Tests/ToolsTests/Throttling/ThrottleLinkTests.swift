import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Testing
import Tools

@testable import Rules
@testable import Tools

@Suite("Throttle: the link")
struct ThrottleLinkTests {
    private func link(_ change: (inout ThrottleConditions) -> Void) -> ThrottleLink {
        var conditions = ThrottleConditions()
        change(&conditions)
        return ThrottleLink(rule: "r", conditions: conditions, seed: 1, power: ThrottleSwitch())
    }

    @Test("Many threads at once take up exactly the time of all their bytes")
    func contention() async {
        let link = link { $0.down = 8_000 }
        let ends = await withTaskGroup(of: Set<Int64>.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    Set(
                        (0..<2_000).map { _ in
                            Int64(link.send(1_000, .response, from: .uptimeNanoseconds(5)).uptimeNanoseconds)
                        }
                    )
                }
            }
            return await group.reduce(into: Set<Int64>()) { $0.formUnion($1) }
        }
        // 1000 bytes are a millisecond; no two were promised the same one.
        #expect(ends.count == 16_000)
        #expect(ends.max() == 16_000_000_005)
    }

    @Test("A link that was idle begins anew: it has saved nothing")
    func idle() {
        let link = link { $0.up = 8 }
        #expect(link.send(10, .request, from: .uptimeNanoseconds(0)) == .uptimeNanoseconds(10_000_000))
        #expect(link.send(10, .request, from: .uptimeNanoseconds(5)) == .uptimeNanoseconds(20_000_000))
        #expect(link.send(10, .request, from: .uptimeNanoseconds(1_000_000_000)) == .uptimeNanoseconds(1_010_000_000))
        #expect(link.send(10, .response, from: .uptimeNanoseconds(7)) == .uptimeNanoseconds(7))
    }

    @Test("Time over seconds of differing quality is the sum of its parts")
    func quality() {
        let link = link { ($0.down, $0.stability, $0.quality) = (8_000, 40, 0...80) }
        let start: Int64 = 3_000_000_000
        var free = start
        var bytes = 0.0
        for _ in 0..<400 {
            free = Int64(link.send(100_000, .response, from: .uptimeNanoseconds(UInt64(start))).uptimeNanoseconds)
            bytes += 100_000
        }
        var expected = 0.0
        var moment = start
        while moment < free {
            let second = (moment - start) / 1_000_000_000
            let end = min(free, start + (second + 1) * 1_000_000_000)
            expected += link.quality(Int(second)) * 1e-3 * Double(end - moment)
            moment = end
        }
        #expect(abs(bytes - expected) / bytes < 1e-6)
        let stable = (0..<10_000).count { link.quality($0) == 1 }
        #expect(abs(Double(stable) / 10_000 - 0.4) < 0.02)
    }

    @Test("Links take each other's places, and counts of requests go on")
    func succession() throws {
        let (first, second, third) = (link { $0.up = 1 }, link { $0.up = 2 }, link { $0.up = 3 })
        let url = try #require(RequestURL("http://a.example/"))
        #expect(first.requests.next("GET", url) == 1)
        first.replace(by: second)
        second.replace(by: third)
        #expect(first.inForce === third)
        #expect(third.requests.next("GET", url) == 2)
        third.power.isOn = false
        #expect(first.inForce == nil)
        third.power.isOn = true
        third.replace(by: nil)
        #expect(first.inForce == nil && second.inForce == nil)
    }
}

@Suite("Draws that can be repeated")
struct SeededDrawTests {
    private let url = RequestURL(scheme: "https", host: "a.example", port: 443, path: "/x", query: "q=1")

    @Test("The numbers are the same in every process, and depend on all that they are drawn for")
    func stable() {
        let draw = SeededDraw(seed: 42, rule: "flaky")
        let number = draw.uniform("GET", url, nth: 1, index: 0)
        #expect(number == 0.4488020918245963)
        var other = url
        other.query = nil
        let others = [
            SeededDraw(seed: 43, rule: "flaky").uniform("GET", url, nth: 1, index: 0),
            SeededDraw(seed: 42, rule: "flaky2").uniform("GET", url, nth: 1, index: 0),
            draw.uniform("HEAD", url, nth: 1, index: 0), draw.uniform("GET", other, nth: 1, index: 0),
            draw.uniform("GET", url, nth: 2, index: 0), draw.uniform("GET", url, nth: 1, index: 1),
            draw.uniform("GET", url, nth: 0, index: 1), draw.uniform("stability", index: 0),
        ]
        #expect(Set(others + [number]).count == 9)
    }

    @Test("They are spread evenly")
    func even() {
        let draw = SeededDraw(seed: 0, rule: "")
        var tenths = [Int](repeating: 0, count: 10)
        for nth in 1...1_000 {
            for index in 0..<20 { tenths[Int(draw.uniform("GET", url, nth: nth, index: index) * 10)] += 1 }
        }
        // 2000 are expected in each; the deviation is about 42.
        #expect(tenths.allSatisfy { abs($0 - 2_000) < 190 }, "\(tenths)")
    }

    @Test("Requests are counted by method and URL, in memory that has a bound")
    func counting() {
        let counter = RequestCounter(limit: 2)
        func url(_ path: String) -> RequestURL { RequestURL(scheme: "http", host: "h", port: 80, path: path) }
        #expect(counter.next("GET", url("/a")) == 1)
        #expect(counter.next("GET", url("/a")) == 2)
        #expect(counter.next("POST", url("/a")) == 1)
        for number in 0..<5_000 { #expect(counter.next("GET", url("/\(number)")) >= 1) }
        #expect(counter.next("GET", url("/a")) == 3)
        #expect(counter.next("GET", url("/new")) >= 1)
    }
}
