import NIOCore
import Support
import Testing
import Wire

@testable import ProxyServer

@Suite("Files of users")
struct ProxyUsersTests {
    /// Of another program, at the least costs.
    private static let hash = "$scrypt$ln=10,r=8,p=2$MDEyMzQ1Njc4OWFiY2RlZg$9UQxwNRQ1UaM5ODszXvshIms92ASpAjr5gqMQSnHxtY"

    @Test("Lines, comments and line ends of each kind are read, and written again")
    func read() throws {
        let users = try ProxyUsers("# ours\r\n\r\nana:\(Self.hash)\r\n  # bo\nbö:\(Self.hash)")
        #expect(users.names == ["ana", "bö"])
        #expect(try ProxyUsers(users.text) == users)
        var fewer = users
        let removals = [fewer.remove("ana"), fewer.remove("ana")]
        #expect(removals == [true, false])
        #expect(fewer.names == ["bö"])
    }

    @Test(
        "What is wrong with a line is said, with its number",
        arguments: [
            ("ana", 1, "is missing"), ("\n\n:x", 3, "no name"), ("a b:x", 1, "spaces or"), ("a\u{1B}b:x", 1, "control"),
            ("ana:secret", 1, "not a hash"), (String(repeating: "a", count: 256) + ":x", 1, "255"),
        ]
    )
    func refused(text: String, line: Int, reason: String) {
        do {
            _ = try ProxyUsers(text)
            Issue.record("it was read")
        } catch {
            #expect(error.line == line)
            #expect(error.reason.contains(reason), "\(error)")
        }
        #expect(throws: ProxyUsersError.self) { try ProxyUsers("a:\(Self.hash)\na:\(Self.hash)") }
    }
}

@Suite("Clients that name a user")
struct ProxyAuthenticationTests {
    private static func authentication() throws -> ProxyAuthentication {
        var users = ProxyUsers()
        users.set(try PasswordHash(of: "right".utf8), for: "ana")
        return ProxyAuthentication(users)
    }

    private static func client(_ address: String) throws -> SocketAddress {
        try SocketAddress(ipAddress: address, port: 1_000)
    }

    private static func credentials(_ user: String, _ password: String) -> BasicCredentials {
        BasicCredentials(user: user.utf8, password: password.utf8)
    }

    @Test("The right password is remembered, a wrong one and an unknown user are not")
    func outcomes() throws {
        let authentication = try Self.authentication()
        let client = try Self.client("192.0.2.1")
        let right = Self.credentials("ana", "right")
        #expect(authentication.remembered(right) == nil)
        #expect(authentication.verify(right, client: client) == .accepted)
        #expect(authentication.remembered(right) == .accepted)
        for wrong in [Self.credentials("ana", "wrong"), Self.credentials("bo", "right"), Self.credentials("", "")] {
            #expect(authentication.verify(wrong, client: client) == .wrong)
            #expect(authentication.remembered(wrong) == nil)
        }
        #expect(authentication.remembered(authentication.own) == .accepted)
        #expect(authentication.remembered(Self.credentials("sluice", "")) == nil)
    }

    @Test("An unknown user is hashed at the costs of one that there is, always the same, and never accepted")
    func unknown() throws {
        let costs = [10, 11, 12]
        var users = ProxyUsers()
        for cost in costs {
            let text = "$scrypt$ln=\(cost),r=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$9UQxwNRQ1UaM5ODszXvshIms92ASpAjr5gqMQSnHxtY"
            users.set(try PasswordHash(text[...]), for: "u\(cost)")
        }
        var found: Set<PasswordHash> = []
        for number in 0..<200 {
            let name = Array("nobody\(number)".utf8)
            let hash = try #require(users.hash(insteadOf: name))
            #expect(hash == users.hash(insteadOf: name) && users.hash(ofUser: name) == nil)
            found.insert(hash)
        }
        #expect(found.count == costs.count)
        #expect(ProxyUsers().hash(insteadOf: Array("a".utf8)) == nil)
        // The password of a user is not that of another name, whichever it is compared with.
        let one = try Self.authentication()
        #expect(one.verify(Self.credentials("bo", "right"), client: nil) == .wrong)
    }

    @Test("A wrong password costs the same work whether there is the user or not, so that the time tells nothing")
    func work() throws {
        let authentication = try Self.authentication()
        func cost(_ user: String) -> Duration {
            let wrong = Self.credentials(user, "wrong")
            return processorTime(of: {
                for _ in 0..<3 { #expect(authentication.verify(wrong, client: nil) == .wrong) }
            }).time
        }
        let (known, unknown) = (cost("ana"), cost("nobody"))
        #expect(unknown > known / 4, "\(unknown) for an unknown user, \(known) for a known one")
    }

    @Test("Ten wrong attempts are looked at, then one each six seconds; other addresses have their own")
    func attempts() throws {
        let authentication = try Self.authentication()
        let wrong = Self.credentials("ana", "wrong")
        let start = NIODeadline.now()
        // Addresses of one network of 64 bits count together.
        for number in 1...10 {
            let client = try Self.client("2001:db8::\(number)")
            #expect(authentication.verify(wrong, client: client, now: start) == .wrong)
        }
        let client = try Self.client("2001:db8::1")
        let right = Self.credentials("ana", "right")
        #expect(authentication.verify(right, client: client, now: start) == .tooMany(seconds: 6))
        #expect(authentication.verify(wrong, client: client, now: start + .seconds(4)) == .tooMany(seconds: 2))
        #expect(authentication.verify(right, client: try Self.client("2001:db8:0:1::1"), now: start) == .accepted)
        // What is remembered passes.
        #expect(authentication.verify(right, client: client, now: start) == .accepted)
        #expect(authentication.verify(wrong, client: client, now: start + .seconds(6)) == .wrong)
        #expect(authentication.verify(wrong, client: client, now: start + .seconds(7)) == .tooMany(seconds: 5))
    }

    @Test("Different credentials that wait are bounded, of one client and of all; the same ones wait as one")
    func queue() throws {
        let authentication = ProxyAuthentication(ProxyUsers())
        let (one, other) = (try Self.client("192.0.2.1"), try Self.client("192.0.2.2"))
        let wrong = (0..<60).map { Self.credentials("ana", "wrong\($0)") }
        for _ in 0..<2 { #expect(wrong.count { authentication.enqueue($0, client: one) } == 56) }
        #expect(wrong.count { authentication.enqueue($0, client: other) } == 8)
        for _ in 0..<2 {
            #expect(!authentication.enqueue(wrong[59], client: one))
            _ = authentication.verify(wrong[0], client: one)
        }
        #expect(authentication.enqueue(wrong[59], client: one), "one has left that was there twice")
    }

    @Test("The right password is no attempt; the addresses whose attempts are longest ago are forgotten")
    func forgotten() throws {
        let authentication = try Self.authentication()
        let (wrong, client) = (Self.credentials("ana", "wrong"), try Self.client("192.0.2.1"))
        let start = NIODeadline.now()
        for _ in 1...9 { #expect(authentication.verify(wrong, client: client, now: start) == .wrong) }
        let right = Self.credentials("ana", "right")
        #expect(authentication.verify(right, client: client, now: start) == .accepted)
        #expect(authentication.verify(wrong, client: client, now: start) == .wrong)
        #expect(authentication.verify(wrong, client: client, now: start) == .tooMany(seconds: 6))
        // Without users nothing is hashed, so that many can ask.
        let nobody = ProxyAuthentication(ProxyUsers())
        for _ in 1...10 { #expect(nobody.verify(wrong, client: client, now: start) == .wrong) }
        #expect(nobody.verify(wrong, client: client, now: start) == .tooMany(seconds: 6))
        let later = start + .milliseconds(1)
        for number in 0..<10_000 {
            _ = nobody.verify(wrong, client: try Self.client("10.0.\(number / 250).\(number % 250)"), now: later)
        }
        #expect(nobody.verify(wrong, client: client, now: later) == .wrong)
    }
}
