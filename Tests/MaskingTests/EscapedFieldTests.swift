import Foundation
import Testing

@testable import Masking

@Suite("Fields whose tags and quotes are escaped")
struct EscapedFieldTests {
    private static func percent(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
    private static func entities(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
    private static func net(_ text: String) -> String {
        text.replacing("\"", with: "\\u0022").replacing("<", with: "\\u003C").replacing(">", with: "\\u003E")
            .replacing("&", with: "\\u0026")
    }

    struct Place: Sendable, CustomTestStringConvertible {
        let name: String
        let syntax: ScanSyntax
        let write: @Sendable (String) -> String
        var testDescription: String { name }
    }

    private static let places = [
        Place(name: "part", syntax: .multipart) {
            "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\nContent-Type: text/xml\r\n\r\n\($0)\r\n--b--"
        },
        Place(name: "form as it is", syntax: .form) { "a=1&x=\($0)" },
        Place(name: "form", syntax: .form) { "a=1&x=\(percent($0))&b=2" },
        Place(name: "form with plus", syntax: .form) { "a=1&x=\(percent($0).replacing("%20", with: "+"))&b=2" },
        Place(name: "form twice", syntax: .form) { "a=1&x=\(percent(percent($0)))&b=2" },
        Place(name: "URL", syntax: .field) { "https://h.example/x?a=\(percent($0))&b=2" },
        Place(name: "JSON", syntax: .text) { "{\"x\":\"\($0.replacing("\"", with: "\\\""))\"}" },
        Place(name: "JSON of Go", syntax: .text) {
            "{\"x\":\"\(net($0).replacing("\\u0022", with: "\\\"").replacing("3C", with: "3c").replacing("3E", with: "3e"))\"}"
        },
        Place(name: "JSON of .NET", syntax: .text) { "{\"x\":\"\(net($0))\"}" },
        Place(name: "JSON of .NET in JSON", syntax: .text) {
            "{\"y\":\"{\\\"x\\\":\\\"\(net($0).replacing("\\", with: "\\\\"))\\\"}\"}"
        },
        Place(name: "XML", syntax: .markup) { "<a><b>\(entities($0))</b></a>" },
        Place(name: "XML twice", syntax: .markup) { "<a><b>\(entities(entities($0)))</b></a>" },
        Place(name: "XML in JSON", syntax: .text) { "{\"x\":\"\(entities($0))\"}" },
        Place(name: "XML in JSON of Go", syntax: .text) { "{\"x\":\"\(net(entities($0)))\"}" },
        Place(name: "attribute", syntax: .markup) { "<a b=\"\(entities($0))\"/>" },
    ]

    @Test("XML, by elements, attributes and pairs", arguments: places)
    func xml(place: Place) {
        for plain in [
            "<u><n>bob</n><Password>\(chance)</Password></u>", "<u n=\"bob\" Password=\"\(chance)\"/>",
            "<s:u xmlns:s=\"urn:x\"><s:Password a=\"b\">\(chance)</s:Password></s:u>",
            "<e key=\"a\">b</e><entry key=\"Password\">\(chance)</entry>",
            "<key>Password</key><string>\(chance)</string>",
            "<Password><![CDATA[\(chance)]]></Password>",
        ] {
            let text = place.write(plain)
            #expect(text.contains(chance))
            #expect(
                Masked.text(text, place.syntax) == text.replacing(chance, with: "sluice-password-1"),
                "\(plain)"
            )
        }
    }

    @Test("Other elements, and names of secrets without their ends, stay", arguments: places)
    func ordinaryXML(place: Place) {
        for plain in [
            "<u><n>bob</n><title>\(chance)</title></u>", "List<Password> items = new ArrayList<Password>(); a < b",
            "<PasswordPolicy>strong</PasswordPolicy>", "<Password></Password>", "<Token>token</Token>",
        ] where place.name != "part" && place.name != "JSON" && place.name != "form as it is" {
            let text = place.write(plain)
            #expect(Masked.text(text, place.syntax) == text, "\(plain)")
        }
    }

    @Test(
        "JSON whose quotes are escaped",
        arguments: places.filter { !["part", "form as it is", "JSON", "JSON of Go", "attribute"].contains($0.name) }
    )
    func json(place: Place) {
        for plain in [
            "{\"n\":\"bob\",\"Password\":\"\(chance)\",\"a\":1}", "{ \"n\" : 1, \"Password\" : \"\(chance)\" }",
            "{\"a\":{\"Password\":\"\(chance)\"}}",
        ] {
            let text = place.write(plain)
            #expect(text.contains(chance))
            #expect(Masked.text(text, place.syntax) == text.replacing(chance, with: "sluice-password-1"), "\(plain)")
        }
        let ordinary = place.write("{\"n\":\"bob\",\"title\":\"\(chance)\",\"password\":\"\",\"token\":null}")
        #expect(Masked.text(ordinary, place.syntax) == ordinary)
        let pin = place.write("{\"pin\":4711}")
        if place.name.hasPrefix("JSON of .NET") {
            #expect(Masked.text(pin, place.syntax) == pin.replacing("4711", with: "900000001"))
        }
    }

    @Test("Lists in a form")
    func lists() {
        for space in ["", "%20", "+"] {
            let list =
                "a=%7B%22passwords%22%3A\(space)%5B%22\(chance)%22%2C\(space)%22b\(chance)%22%5D%2C%22x%22%3A%5B%22y%22%5D%7D"
            #expect(
                Masked.text(list, .form)
                    == list.replacing("b" + chance, with: "sluice-password-2").replacing(
                        chance,
                        with: "sluice-password-1"
                    )
            )
        }
    }

    @Test("A secret is known without the escapes")
    func known() {
        for (text, syntax) in [
            (#"{"x":"\u003cpassword\u003eab\u0026amp;cd=ef/gh\u003c/password\u003e"}"#, ScanSyntax.text),
            ("x=%3Cpassword%3Eab%26amp%3Bcd%3Def%2Fgh%3C%2Fpassword%3E", .form),
            (#"{"x":"{\u0022password\u0022:\u0022ab\u0026cd=ef\/gh\u0022}"}"#, .text),
            ("<a>&lt;password&gt;ab&amp;amp;cd=ef/gh&lt;/password&gt;</a>", .markup),
        ] {
            let mask = TextMask()
            _ = mask.masked(text, syntax)
            mask.endCollecting()
            #expect(mask.masked("so ab&cd=ef/gh is", .text) == "so sluice-password-1 is", "\(text)")
        }
    }

    @Test("In a body that is cut into windows")
    func windows() {
        let piece = #"{\u0022n\u0022:\u0022words and words\u0022,\u0022password\u0022:\u0022\#(chance)\u0022},"#
        let body = "{\"x\":\"" + String(repeating: piece, count: 60) + "\"}"
        for window in [512, 1_024, 2_048] {
            let masked = Masked.body(Array(body.utf8), window: window)
            #expect(String(decoding: masked, as: UTF8.self) == body.replacing(chance, with: "sluice-password-1"))
        }
    }

    @Test("JSON and forms in a part of a form")
    func parts() {
        for (plain, word) in [
            (#"{"name":"password","value":"\#(chance)"}"#, "sluice-password-1"),
            (#"{"value":"\#(chance)","name":"password"}"#, "sluice-password-1"),
            ("<input name=\"password\" value=\"\(chance)\">", "sluice-password-1"),
            ("a=1&password=\(chance)&b=2", "sluice-password-1"), (#"{"password":"\#(chance)"}"#, "sluice-password-1"),
            ("<entry key=\"password\">\(chance)</entry>", "sluice-password-1"),
        ] {
            let text =
                "--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n\(plain)\r\n--b\r\n"
                + "Content-Disposition: form-data;\r\n name=\"title\"\r\n\r\nsome words\r\n--b--\r\n"
            #expect(Masked.text(text, .multipart) == text.replacing(chance, with: word), "\(plain)")
        }
    }
}
