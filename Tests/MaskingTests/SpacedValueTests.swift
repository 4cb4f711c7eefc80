import Testing

@testable import Masking

@Suite("Values with spaces, and values that are none")
struct SpacedValueTests {
    @Test("A value that is no secret as a whole is looked into", arguments: [ScanSyntax.text, .markup])
    func inside(syntax: ScanSyntax) {
        let (from, to) = ("Server=x;User Id=a;Password=MapleOtter42", "Server=x;User Id=a;Password=sluice-password-1")
        for (before, after) in [
            (#"{"connectionString":""#, #""}"#), (#"<add name="Db" connectionString=""#, #";"/>"#),
            ("<connectionString>", ";</connectionString>"), (#"{"connectionStrings":["x y",""#, #""]}"#),
        ] {
            // In JSON a value of an attribute is none.
            if syntax == .markup, before.hasPrefix("{") { continue }
            #expect(Masked.text(before + from + after, syntax) == before + to + after)
        }
        let key = "ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"
        #expect(Masked.text(#"{"token":"use \#(key) now"}"#) == #"{"token":"use sluice-key-1 now"}"#)
    }

    @Test("Digits in groups are a card's number and a code")
    func digits() {
        #expect(Masked.text(#"{"cardNumber":"4111 1111 1111 1111"}"#) == #"{"cardNumber":"sluice-card-1"}"#)
        #expect(Masked.text("a=1&cardNumber=4111+1111+1111+1111&b=2", .form) == "a=1&cardNumber=sluice-card-1&b=2")
        #expect(Masked.text("cardNumber=4111%201111%201111%201111", .form) == "cardNumber=sluice-card-1")
        #expect(Masked.text(#"{"otp":"481 516"}"#) == #"{"otp":"sluice-code-1"}"#)
        for text in [#"{"cardNumber":"4111 1111 1111 1112"}"#, #"{"otp":"Enter 481 516"}"#, #"{"otp":"4 of 6"}"#] {
            #expect(Masked.text(text) == text)
        }
    }

    @Test("Words under the name of a secret are one; a sentence is none")
    func secrets() {
        for value in ["correct horse battery staple", "v1 0pMvQ7xT2rB9zLw4", "Maple otter 42"] {
            for name in ["client_secret", "secret", "clientSecret"] {
                #expect(Masked.text(#"{"\#(name)":"\#(value)"}"#) == #"{"\#(name)":"sluice-token-1"}"#)
            }
        }
        for value in ["Your client secret", "The key of this app.", "is required", "Client Secret", "Enter it here…"] {
            #expect(Masked.text(#"{"client_secret":"\#(value)"}"#) == #"{"client_secret":"\#(value)"}"#)
        }
        for text in [#"{"token":"a word of prose"}"#, #"{"apiKey":"no key here"}"#] {
            #expect(Masked.text(text) == text)
        }
    }

    @Test("What is wrong with a password is no password")
    func complaints() {
        for value in [
            "Minimum 8 characters", "This field is required.", "must be at least 8 characters", "is too short",
            "can't be blank", "is invalid", "must be 4 digits", "4 to 6 digits",
        ] {
            let text = #"{"errors":{"password":"\#(value)","username":"\#(value)"}}"#
            #expect(Masked.text(text) == text)
        }
        for value in [
            "correct horse battery", "Maple Otter 42.", "this is mine 77", "my characters", "digits of maple",
        ] {
            #expect(Masked.text(#"{"password":"\#(value)"}"#) == #"{"password":"sluice-password-1"}"#)
        }
    }

    @Test("The directory of a shell is no password")
    func directories() {
        for text in [
            #"{"env":{"PWD":"/usr/src/application","OLDPWD":"/usr/src"}}"#, "PWD=/usr/src/application\nHOME=/root\n",
            #"{"PWD":"C:\\Users\\bob"}"#, #"{"PWD":"\/usr\/src"}"#,
        ] { #expect(Masked.text(text) == text) }
        #expect(Masked.text(#"{"pwd":"MapleOtter42"}"#) == #"{"pwd":"sluice-password-1"}"#)
        #expect(Masked.text(#"{"password":"/usr/src"}"#) == #"{"password":"sluice-password-1"}"#)
    }

    @Test("Attributes of HTML: a key of the keyboard, and values without quotes")
    func attributes() {
        for text in [#"<a accesskey="h" href="/">"#, "<a accesskey=h href=/>", #"<a accesskey="s 0">"#] {
            #expect(Masked.text(text, .markup) == text)
            #expect(Masked.text(text) == text)
        }
        for value in ["8fK2mQ9z", "8fK2mQ9zLw4TbV7n8fK2mQ"] {
            #expect(
                Masked.text("<input type=hidden name=csrf_token value=\(value)>", .markup)
                    == "<input type=hidden name=csrf_token value=sluice-token-1>"
            )
        }
        let line = "name=csrf_token value=8fK2mQ9zLw4TbV7n8fK2mQ"
        #expect(Masked.text(line).hasPrefix("name=csrf_token value="))
    }
}
