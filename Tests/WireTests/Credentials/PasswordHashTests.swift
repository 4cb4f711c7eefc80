import Testing

@testable import Wire

@Suite("Hashes of passwords")
struct PasswordHashTests {
    /// Made with Python's hashlib.scrypt: N 1024, r 8, p 2, 32 bytes.
    private static let other =
        "$scrypt$ln=10,r=8,p=2$MDEyMzQ1Njc4OWFiY2RlZg$9UQxwNRQ1UaM5ODszXvshIms92ASpAjr5gqMQSnHxtY"

    @Test("A hash of another program's scrypt is read")
    func other() throws {
        let hash = try PasswordHash(Self.other[...])
        #expect(hash.matches("päss:word".utf8))
        #expect(!hash.matches("päss:worD".utf8))
        #expect(!hash.matches("".utf8))
        #expect(hash.description == Self.other)
    }

    @Test("Our own hash is read again, and no two are alike")
    func own() throws {
        let hash = try PasswordHash(of: "secret".utf8)
        #expect(try PasswordHash(hash.description[...]).matches("secret".utf8))
        #expect(try hash != PasswordHash(of: "secret".utf8))
        #expect(!hash.matches("secret ".utf8))
    }

    @Test("Without the memory for it there is an error, and no hash that is empty")
    func memory() {
        #expect(throws: PasswordHash.HashingError.self) { try PasswordHash(of: "secret".utf8, within: 1 << 20) }
        #expect(throws: Never.self) { try PasswordHash(of: "secret".utf8, within: 32 << 20) }
    }

    @Test(
        "What is no hash, or costs too much, is refused with the reason",
        arguments: [
            ("secret", "form"), ("$2y$10$abcdefgh$x", "form"), ("$scrypt$ln=14,r=8$MDEyMzQ1Njc4OQ$abc", "costs"),
            ("$scrypt$ln=9,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$9UQxwNRQ1UaM5ODszXvshA", "costs"),
            ("$scrypt$ln=20,r=32,p=1$MDEyMzQ1Njc4OWFiY2RlZg$9UQxwNRQ1UaM5ODszXvshA", "256 MiB"),
            ("$scrypt$ln=9223372036854775807,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$9UQxwNRQ1UaM5ODszXvshA", "costs"),
            ("$scrypt$ln=99999999999999999999,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$9UQxwNRQ1UaM5ODszXvshA", "costs"),
            ("$scrypt$ln=14,r=8,p=1$MDEy$9UQxwNRQ1UaM5ODszXvshA", "salt"),
            ("$scrypt$ln=14,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$9UQx!NRQ1UaM5ODszXvshA", "key"),
            ("$scrypt$ln=14,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$", "key"),
        ]
    )
    func refused(text: String, reason: String) {
        #expect(throws: PasswordHash.ReadingError.self) { try PasswordHash(text[...]) }
        do { _ = try PasswordHash(text[...]) } catch { #expect(error.description.contains(reason), "\(error)") }
    }
}

@Suite("Credentials of the Basic scheme")
struct BasicCredentialsTests {
    @Test("They are read as RFC 7617 writes them, and written so")
    func read() {
        let credentials = BasicCredentials(fieldValue: "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".utf8)
        #expect(credentials == BasicCredentials(user: "Aladdin".utf8, password: "open sesame".utf8))
        #expect(credentials?.fieldValue == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(
            BasicCredentials(fieldValue: "bAsIC   dTpwOnE".utf8)
                == BasicCredentials(user: "u".utf8, password: "p:q".utf8)
        )
        for length in 0..<10 {
            let written = BasicCredentials(user: "u".utf8, password: String(repeating: "ü", count: length).utf8)
            #expect(BasicCredentials(fieldValue: written.fieldValue.utf8) == written)
        }
    }

    @Test(
        "Anything else is none",
        arguments: [
            "", "Basic", "Basic ", "Bearer dTpw", "Basic dTpw!", "Basic dTpwx", "Basic =", "Basic dQ==", "Basic dT pw",
            "Basic " + String(repeating: "A", count: 4_096),
        ]
    )
    func refused(value: String) { #expect(BasicCredentials(fieldValue: value.utf8) == nil) }
}
