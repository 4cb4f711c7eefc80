import HTTPModel
import Telemetry
import Testing

@Suite("Settings of spans")
struct SpanSettingsTests {
    @Test(
        "The endpoint is that of the option, of the variable for traces as it is, or of the one for all signals",
        arguments: [
            ("http://127.0.0.1:4318", [:], "http://127.0.0.1:4318/v1/traces"),
            ("https://h/base/", [:], "https://h/base/v1/traces"), ("http://h/v1/traces", [:], "http://h/v1/traces"),
            ("http://h?key=1", [:], "http://h/v1/traces?key=1"),
            (nil, [:], "http://localhost:4318/v1/traces"),
            (nil, ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:1/x"], "http://b:1/x/v1/traces"),
            (nil, ["OTEL_EXPORTER_OTLP_ENDPOINT": ""], "http://localhost:4318/v1/traces"),
            (
                nil, ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://b", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t:2/p"],
                "http://t:2/p"
            ),
            ("http://h", ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t:2/p"], "http://h/v1/traces"),
        ] as [(String?, [String: String], String)]
    )
    func endpoint(url: String?, environment: [String: String], expected: String) throws {
        #expect(try SpanSettings(url: url, environment: environment).endpoint.description == expected)
    }

    @Test("The other variables are read, those for traces first")
    func variables() throws {
        let usual = try SpanSettings(url: nil, environment: [:])
        #expect(usual.headers.isEmpty && usual.timeout == 10_000 && usual.compresses && usual.certificate == nil)
        #expect(usual.resource.map(\.name) == ["service.name"] && usual.resource[0].value == "sluice")
        #expect(usual.delay == 5_000 && usual.queueSize == 2_048 && usual.batchSize == 512)
        let prefix = "OTEL_EXPORTER_OTLP_"
        let all = try SpanSettings(
            url: nil,
            environment: [
                prefix + "HEADERS": "api-key=a%20b%3D, x = y", prefix + "TIMEOUT": "1",
                prefix + "TRACES_TIMEOUT": "250",
                prefix + "COMPRESSION": "none", prefix + "CERTIFICATE": "/ca.pem", prefix + "PROTOCOL": "http/protobuf",
                "OTEL_SERVICE_NAME": "shop", "OTEL_RESOURCE_ATTRIBUTES": "service.name=no,env=a%2Cb",
                "OTEL_BSP_MAX_QUEUE_SIZE": "10", "OTEL_BSP_SCHEDULE_DELAY": "20",
            ]
        )
        #expect(all.headers.map { "\($0.name): \($0.value)" } == ["api-key: a b=", "x: y"])
        #expect(all.timeout == 250 && !all.compresses && all.certificate == "/ca.pem")
        #expect(all.resource.map { "\($0.name)=\($0.value)" } == ["env=a,b", "service.name=shop"])
        #expect(all.queueSize == 10 && all.batchSize == 10 && all.delay == 20)
    }

    @Test(
        "A wrong value is an error that names the variable, and no secret",
        arguments: [
            ("ENDPOINT", "localhost:4318"), ("ENDPOINT", "grpc://h"), ("PROTOCOL", "grpc"),
            ("TRACES_PROTOCOL", "http/json"),
            ("TIMEOUT", "ten"), ("TIMEOUT", "0"), ("COMPRESSION", "zstd"), ("HEADERS", "hunter2"),
            ("HEADERS", "=hunter2"),
            ("HEADERS", "a=hunter2%zz"), ("TRACES_HEADERS", "a b=hunter2"), ("HEADERS", "a=hunter2%0d%0aX:%20y"),
        ]
    )
    func wrong(name: String, value: String) {
        let name = "OTEL_EXPORTER_OTLP_" + name
        let error = #expect(throws: SpanSettings.SettingError.self) {
            try SpanSettings(url: nil, environment: [name: value])
        }
        #expect(
            error?.description.hasPrefix(name) == true && error?.description.contains("hunter2") == false,
            "\(error as Any)"
        )
    }

    @Test("A wrong option is one, too")
    func option() {
        for url in ["", "4318", "ftp://h", "http://", "http://h:99999"] {
            let error = #expect(throws: SpanSettings.SettingError.self) { try SpanSettings(url: url, environment: [:]) }
            #expect(error?.description.hasPrefix("--otlp is not") == true, "\(url)")
        }
    }
}
