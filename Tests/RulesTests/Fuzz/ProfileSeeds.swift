/// What the fuzzer of profiles begins with.
enum ProfileSeeds {
    private static let profiles = [
        """
        version: 1
        name: all
        intercept: { only: ["*.a.example"], except: "bank.example" }
        access: [ 10.0.0.0/8 ]
        off: [ throttle ]
        allow: { at: "*.example", action: drop }
        block: [ { at: "*.ads.example", action: drop }, { name: x, at: { host: a.example, path: "/v?/*" }, method: GET } ]
        no-caching: true
        """,
        """
        version: 1
        rewrite:
          - name: small
            at: [ "https://a.example/v1/*" ]
            except: "*/x"
            rules:
              - { add: header, on: response, name: X-A, to: "1" }
              - { modify: header, on: [request, response], match: '/a(b)/', to: $1 }
              - { remove: query, name: x }
        map-remote: { from: "https://a.example/*", to: "http://localhost:3000/" }
        """,
        """
        version: 1
        presets: { mine: { down: 100, latency: 20 } }
        throttle: { preset: 3g, only: a.example, seed: 7 }
        dns-spoofing: { host: a.example, address: 127.0.0.1 }
        expect:
          - { request: GET http://a.example/, response: { status: 404 }, fires: [ throttle ], sends: { url: /a/ } }
          - { request: { method: POST, url: http://a.example/, headers: { A: b } }, answers: { status: 2xx, headers: { X: ~ } } }
        assert: { filter: "host:a.example status:2xx", count: ">=1", within: 500ms }
        """,
        "version: 1\nblock:\n  - at: [\n",
        "a: &a [*a]\n? x",
    ]

    private static let locations = [
        "*.example\na.example:8*/v1/*?x=[a-c]\nhttp://a.example", "https://[::1]:443/\\?x\n/a/[!b]*\n?x=1",
        "*a*b*c*\na?c",
    ]

    private static let filters = [
        "host:*.example status:2xx,404 time:>500ms", "not (is:error or method:POST) and -path:/v1/*",
        "header:cookie body:\"a b\" since:1h before:2026-01-01", "\"quoted \\\" word\" or x*y?z",
    ]

    /// All of them, each with the decision for the probe that it is meant for.
    static let all: [[UInt8]] =
        profiles.map { FuzzInput.made(Array($0.utf8), [0]) } + locations.map { FuzzInput.made(Array($0.utf8), [2]) }
        + filters.map { FuzzInput.made(Array($0.utf8), [3]) }
}
