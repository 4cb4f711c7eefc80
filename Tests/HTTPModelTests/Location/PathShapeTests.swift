import HTTPModel
import Support
import Testing

@Suite("Shapes of paths")
struct PathShapeTests {
    @Test(
        "are the same for what differs in identifiers alone",
        arguments: [
            ("/users/17", "/users/{id}"),
            ("/users/17/posts/9f1c2ab4", "/users/{id}/posts/{id}"),
            ("/orders/550e8400-e29b-41d4-a716-446655440000/items", "/orders/{id}/items"),
            ("/objects/507f1f77bcf86cd799439011", "/objects/{id}"),
            ("/commits/da39a3ee5e6b4b0d3255bfef95601890afd80709", "/commits/{id}"),
            ("/days/2026-11-22", "/days/{id}"),
            ("/images/1234.png", "/images/{id}.png"),
            ("/files/0a1b2c3d4e.tar", "/files/{id}.tar"),
            ("/customers/cus_NffrFeUfNV2Hib", "/customers/cus_{id}"),
            ("/u/user-42/x", "/u/user-{id}/x"),
            ("/watch/dQw4w9WgXcQ8", "/watch/{id}"),
            ("/t/eyJhbGciOiJIUzI1NiIsInR5cCI6IkpX", "/t/{id}"),
            ("/0", "/{id}"),
        ]
    )
    func identifiers(path: String, shape: String) {
        #expect(PathShape.of(path) == shape)
        #expect(PathShape.of(shape) == shape)
    }

    @Test(
        "keep words, versions and slugs",
        arguments: [
            "", "/", "*", "//", "/a/", "/v1/users", "/api/v2.1/health", "/oauth2/token", "/facade/decade", "/deadbeef",
            "/how-to-install-swift-6-on-debian-12", "/static/js/main.js", "/internationalization/settings",
            "/jquery-3.6.0.min.js", "/caf%C3%A9/menu", "/sha256", "/base64/encode", "/a1b2",
        ]
    )
    func words(path: String) {
        #expect(PathShape.of(path) == path)
    }

    @Test("of any bytes end, and of many segments are bounded")
    func hostile() {
        var random = SplitMix(3)
        for _ in 0..<2_000 {
            let bytes = (0..<random.number(below: 60)).map { _ in UInt8(random.number(below: 256)) }
            let path = String(decoding: bytes, as: UTF8.self)
            #expect(PathShape.of(path).utf8.count <= 4 * path.utf8.count + 8)
        }
        let long = PathShape.of(String(repeating: "/1", count: 50_000))
        #expect(long.hasSuffix("/…") && long.split(separator: "/").count == PathShape.mostSegments)
    }
}
