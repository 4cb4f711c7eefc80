import Terminal
import Testing

@Suite("Rectangles")
struct RectTests {
    let rect = Rect(x: 2, y: 3, width: 10, height: 5)

    @Test("splits give both parts and clamp what is asked")
    func splits() {
        #expect(rect.splitTop(2) == (Rect(x: 2, y: 3, width: 10, height: 2), Rect(x: 2, y: 5, width: 10, height: 3)))
        #expect(rect.splitBottom(1) == (Rect(x: 2, y: 3, width: 10, height: 4), Rect(x: 2, y: 7, width: 10, height: 1)))
        #expect(rect.splitLeft(4) == (Rect(x: 2, y: 3, width: 4, height: 5), Rect(x: 6, y: 3, width: 6, height: 5)))
        #expect(rect.splitTop(99).top == rect)
        #expect(rect.splitTop(99).rest.isEmpty)
        #expect(rect.splitLeft(-1).rest == rect)
        #expect(rect.splitBottom(.max).bottom == rect)
    }

    @Test("its ends are outside of it")
    func contains() {
        #expect(rect.contains(x: 2, y: 3))
        #expect(rect.contains(x: 11, y: 7))
        #expect(!rect.contains(x: 12, y: 7))
        #expect(!rect.contains(x: 11, y: 8))
        #expect(rect.intersection(Rect(x: 0, y: 0, width: 3, height: 4)) == Rect(x: 2, y: 3, width: 1, height: 1))
        #expect(rect.intersection(Rect(x: 1, y: 0, width: .max, height: .max)) == rect)
        #expect(rect.intersection(Rect(x: 50, y: 0, width: 3, height: 4)).isEmpty)
    }
}
