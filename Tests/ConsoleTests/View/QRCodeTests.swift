import Testing

@testable import Console

struct QRCodeTests {
    /// What another encoder makes of the same text with the same mask.
    private static let page = """
        #######..###......#######
        #.....#....##...#.#.....#
        #.###.#..###....#.#.###.#
        #.###.#.#.##.#.##.#.###.#
        #.###.#.#.#.###.#.#.###.#
        #.....#..##.......#.....#
        #######.#.#.#.#.#.#######
        .........#..#.##.........
        ##...###.##.##.##...##...
        #.#.##....#..###.#.#####.
        ####.#####.#####.##..#.##
        .##.#.....##..#..#####..#
        ####..#.###..###..##....#
        #..#.#..#.#.##.##..#...#.
        #.########...###...###.##
        #.##....#.#.####.##.#.#.#
        #.#.###..##.#.#.#####.#..
        ........#.......#...#.#..
        #######.###.###.#.#.##..#
        #.....#.####..#.#...#...#
        #.###.#..#.#...##########
        #.###.#..##.##.#####.#.##
        #.###.#......##....#..#.#
        #.....#.#...##..#.###...#
        #######.##.###..#....#..#
        """

    /// Lengths, and for each the version, the mask and the sum over the modules that another encoder makes of it.
    private static let known: [(length: Int, version: Int, mask: Int, sum: UInt64)] = [
        (1, 1, 0, 0xEB68_7A4F_457A_B9EF),
        (17, 1, 2, 0x8483_F72E_A9BF_46C1),
        (18, 2, 5, 0xA47A_FDB8_A772_712E),
        (32, 2, 4, 0x55DA_008B_586C_AC6D),
        (53, 3, 7, 0x3A7B_31D2_91A3_1E07),
        (78, 4, 5, 0xF832_6B2A_F81C_C799),
        (106, 5, 2, 0x5047_A0F0_4BA5_CE53),
    ]

    @Test func `the page's address is drawn as another encoder draws it`() throws {
        let code = try #require(QRCode("http://sluice.proxy/", mask: 5))
        let rows = (0..<code.side).map { y in String((0..<code.side).map { code[$0, y] ? "#" : "." }) }
        #expect(rows.joined(separator: "\n") == Self.page)
    }

    @Test func `each version from 1 to 5 is drawn as another encoder draws it`() throws {
        for known in Self.known {
            let text = String((0..<known.length).map { Character(Unicode.Scalar(UInt8(97 + $0 % 26))) })
            let code = try #require(QRCode(text, mask: known.mask))
            #expect(code.side == known.version * 4 + 17)
            let sum = code.modules.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ ($1 ? 1 : 0)) &* 0x100_0000_01B3 }
            #expect(sum == known.sum, "length \(known.length)")
        }
    }

    @Test func `without a mask one of the eight is taken`() throws {
        let code = try #require(QRCode("http://192.168.1.20:8080/"))
        #expect((0..<8).contains { QRCode("http://192.168.1.20:8080/", mask: $0)?.modules == code.modules })
    }

    @Test func `what is too long has no code`() {
        #expect(QRCode(String(repeating: "x", count: 106)) != nil)
        #expect(QRCode(String(repeating: "x", count: 107)) == nil)
        #expect(QRCode("")?.side == 21)
    }

    @Test func `a phone gets a page that it can reach`() {
        #expect(PhonePage.address("127.0.0.1:8080") == nil)
        #expect(PhonePage.address("[::1]:8080") == nil)
        #expect(PhonePage.address("") == nil)
        #expect(PhonePage.address("0.0.0.0:8080") == "http://sluice.proxy/")
        #expect(PhonePage.address("192.168.1.20:8080") == "http://192.168.1.20:8080/")
    }
}
