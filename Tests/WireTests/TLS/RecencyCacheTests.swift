import Support
import Testing

@testable import Wire

@Suite struct RecencyCacheTests {
    @Test("The least recently used value is forgotten first")
    func eviction() {
        var cache = RecencyCache<String, Int>(capacity: 2)
        cache.store(1, for: "a")
        cache.store(2, for: "b")
        #expect(cache.value(for: "a") == 1)
        cache.store(3, for: "c")
        #expect(cache.value(for: "b") == nil)
        #expect(cache.removeValue(for: "a") == 1)
        #expect(cache.removeValue(for: "a") == nil)
        #expect(cache.count == 1)
    }

    @Test("It behaves like a simple list of recent keys under random use")
    func model() {
        var generator = SplitMix(0x510C_E005)
        var cache = RecencyCache<Int, Int>(capacity: 7)
        var model: [(key: Int, value: Int)] = []
        for step in 0..<20_000 {
            let key = Int.random(in: 0..<12, using: &generator)
            let found = model.firstIndex { $0.key == key }
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                #expect(cache.value(for: key) == found.map { model[$0].value })
                if let found { model.append(model.remove(at: found)) }
            case 1:
                cache.store(step, for: key)
                if let found { model.remove(at: found) } else if model.count == 7 { model.removeFirst() }
                model.append((key, step))
            default:
                #expect(cache.removeValue(for: key) == found.map { model.remove(at: $0).value })
            }
            #expect(cache.count == model.count)
        }
    }
}
