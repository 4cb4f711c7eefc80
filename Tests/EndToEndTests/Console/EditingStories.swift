import Foundation
import Support
import Synchronization
import Terminal
import Testing

extension UserStories.Consoles {
    @Suite("Messages that are edited keep what nobody edited")
    struct EditingStories {
        /// A server that keeps the body of each request.
        private final class BodyOrigin: Sendable {
            let origin: Origin
            private let list: Bodies

            private final class Bodies: Sendable {
                let all = Mutex<[[UInt8]]>([])
            }

            init() throws {
                let list = Bodies()
                self.list = list
                origin = try Origin { origin, socket in
                    while true {
                        let head = try origin.head(socket)
                        let length = head.firstMatch(of: /(?i)content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
                        let body = length > 0 ? try socket.read(count: length) : []
                        list.all.withLock { $0.append(body) }
                        try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    }
                }
            }

            var bodies: [[UInt8]] { list.all.withLock { $0 } }
            var url: String { "http://localhost:\(origin.port)" }
        }

        @Test("A multipart upload is sent again through the editor with the same bytes", .timeLimit(.minutes(2)))
        func multipart() async throws {
            let server = try BodyOrigin()
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            let sent = try await console.answer("-F", "a=1", "-F", "b=two", "\(server.url)/form")
            #expect(sent.status == 200)
            try await console.screen.row(containing: "/form", "200")
            try await console.screen.send("P", waitFor: "Edit and send")
            try await console.screen.send(Keys.control("s"), waitFor: "Sent: POST \(server.url)/form, 200")
            try await console.screen.send("P", waitFor: "Edit and send")
            try await console.replace("/form", with: "/other", at: "/form HTTP")
            try await console.screen.send(Keys.control("s"), waitFor: "Sent: POST \(server.url)/other, 200")
            let bodies = server.bodies
            #expect(bodies.count == 3)
            #expect(latin1(bodies[0]).contains("name=\"b\"\r\n\r\ntwo\r\n"))
            #expect(bodies[1] == bodies[0])
            #expect(bodies[2] == bodies[0])
        }

        @Test("A held request to which a field is added keeps its body", .timeLimit(.minutes(2)))
        func held() async throws {
            let server = try BodyOrigin()
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            _ = try await console.answer("\(server.url)/held")
            try await console.screen.row(containing: "/held", "200")
            try await console.addRule("k", "at: \(server.url)/held\non: request")
            let body = "{\r\n \"a\": 1\r\n}\r\nlast"
            async let pending = console.answer("--data-binary", body, "\(server.url)/held")
            try await console.screen.row(containing: "HELD", "request POST")
            try await console.screen.send("e", waitFor: "Held request of POST")
            try await console.screen.send("\u{1B}[1;5H" + Keys.end + Keys.enter + "X-Added: 1", waitFor: "X-Added: 1")
            try await console.screen.send(Keys.control("s"), waitFor: "Sent with your edits.")
            #expect(try await pending.status == 200)
            #expect(server.origin.heads.last?.contains("X-Added: 1\r\n") == true)
            #expect(server.bodies.last.map { latin1($0) } == body)
        }

        @Test("The line for a held body that is no text is left alone, or refused", .timeLimit(.minutes(2)))
        func binary() async throws {
            let server = try BodyOrigin()
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            let bytes: [UInt8] = [0xFF, 0xD8, 0, 13, 10, 0x80]
            let file = try console.scratch.write("image", bytes)
            _ = try await console.answer("\(server.url)/image")
            try await console.screen.row(containing: "/image", "200")
            try await console.addRule("k", "at: \(server.url)/image\non: request")
            async let pending = console.answer("--data-binary", "@\(file)", "\(server.url)/image")
            try await console.screen.row(containing: "HELD", "request POST")
            try await console.screen.send("e", waitFor: "<<a body of 6 bytes")
            try await console.screen.send("\u{1B}[1;5Fx" + Keys.control("s"))
            try await console.screen.wait(for: "in place of the body was changed")
            try await console.screen.send("\u{7F}" + Keys.control("s"), waitFor: "Sent with your edits.")
            #expect(try await pending.status == 200)
            #expect(server.bodies.last == bytes)
        }

        @Test("In the structure a key is about what is selected there", .timeLimit(.minutes(2)))
        func structure() async throws {
            let server = try BodyOrigin()
            let console = try await LiveConsole(size: Size(width: 80, height: 24))
            for path in ["/first", "/second"] {
                _ = try await console.answer("-X", "DELETE", server.url + path)
                try await console.screen.row(containing: path, "200")
            }
            try await console.screen.send(Keys.tab, waitFor: "HOST AND PATH")
            try await console.screen.row(containing: server.url)
            try await console.screen.send("p", waitFor: "This is a branch")
            try await console.screen.send(Keys.enter, waitFor: "second")
            try await console.screen.send(Keys.down, waitFor: "space mark")
            try await console.screen.send("p", waitFor: "Sent: DELETE \(server.url)/first, 200")
            try await console.screen.send(" ", waitFor: "is marked")
            #expect(
                server.origin.heads.map { String($0.prefix { $0 != "\r\n" }) } == [
                    "DELETE /first HTTP/1.1", "DELETE /second HTTP/1.1", "DELETE /first HTTP/1.1",
                ]
            )
            try await console.screen.send(Keys.up + "ab", waitFor: "the whole host")
            try await console.screen.wait(for: "at: \"localhost:\(server.origin.port)\"")
        }
    }
}
