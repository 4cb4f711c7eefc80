import Foundation
package import HTTPModel
import Text

/// Where and how spans are sent: `--otlp` and the variables of OpenTelemetry, which are read only with it.
package struct SpanSettings: Sendable {
    /// `http` or `https`; spans are posted to its path.
    package let endpoint: RequestURL
    package let headers: [(name: String, value: String)]
    /// The limit for one request, in milliseconds.
    package let timeout: Int
    package let compresses: Bool
    /// A PEM file of authorities to trust besides the system's.
    package let certificate: String?
    /// Without `service.version`.
    package let resource: [(name: String, value: String)]
    /// How long a span waits for others at most, in milliseconds.
    package let delay: Int
    package let queueSize: Int
    package let batchSize: Int

    package struct SettingError: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String
    }

    private static let signalPath = "/v1/traces"
    package static let usualEndpoint = "http://localhost:4318"
    private static let prefix = "OTEL_EXPORTER_OTLP_"

    /// `url` is the value of `--otlp`; without it, the environment names the endpoint. Empty variables count as unset.
    package init(url: String?, environment: [String: String]) throws(SettingError) {
        func variable(_ name: String) -> (name: String, value: String)? {
            environment[name].flatMap { $0.isEmpty ? nil : (name, $0) }
        }
        /// The variable for traces, or the one for all signals.
        func setting(_ name: String) -> (name: String, value: String)? {
            variable(SpanSettings.prefix + "TRACES_" + name) ?? variable(SpanSettings.prefix + name)
        }
        func number(_ found: (name: String, value: String)?, _ usual: Int) throws(SettingError) -> Int {
            guard let found else { return usual }
            guard let number = Int(found.value), (1...3_600_000).contains(number) else {
                throw SettingError(description: "\(found.name) is '\(found.value)', not a number from 1 to 3600000.")
            }
            return number
        }
        if let found = setting("PROTOCOL"), found.value != "http/protobuf" {
            let reason = "is '\(found.value)', but Sluice sends only http/protobuf; use the receiver's port for it."
            throw SettingError(description: "\(found.name) \(reason)")
        }
        let whole = SpanSettings.prefix + "TRACES_ENDPOINT"
        let found =
            url.map { (name: "--otlp", value: $0) } ?? setting("ENDPOINT")
            ?? (name: "--otlp", value: SpanSettings.usualEndpoint)
        guard var endpoint = RequestURL(found.value), ["http", "https"].contains(endpoint.scheme) else {
            let what = "is not an http or https URL such as \(SpanSettings.usualEndpoint)"
            throw SettingError(
                description: "\(found.name) \(what): '\(VisibleText.of(String(found.value.prefix(200))))'."
            )
        }
        if found.name != whole, !endpoint.path.hasSuffix(SpanSettings.signalPath) {
            endpoint.path += (endpoint.path.hasSuffix("/") ? "" : "/") + SpanSettings.signalPath.dropFirst()
        }
        self.endpoint = endpoint
        headers = try SpanSettings.pairs(setting("HEADERS"))
        if let wrong = headers.first(where: { !SpanSettings.isField($0.name, $0.value) }) {
            let name = setting("HEADERS")?.name ?? ""
            throw SettingError(description: "\(name) has no valid header field '\(VisibleText.of(wrong.name))'.")
        }
        timeout = try number(setting("TIMEOUT"), 10_000)
        let compression = setting("COMPRESSION")
        guard ["gzip", "none", nil].contains(compression?.value) else {
            let (name, value) = (compression?.name ?? "", compression?.value ?? "")
            throw SettingError(description: "\(name) is '\(value)'; Sluice knows gzip and none.")
        }
        compresses = compression?.value != "none"
        certificate = setting("CERTIFICATE")?.value
        var resource = try SpanSettings.pairs(variable("OTEL_RESOURCE_ATTRIBUTES"))
        if let service = variable("OTEL_SERVICE_NAME")?.value {
            resource.removeAll { $0.name == "service.name" }
            resource.append(("service.name", service))
        } else if !resource.contains(where: { $0.name == "service.name" }) {
            resource.append(("service.name", "sluice"))
        }
        self.resource = resource
        delay = try number(variable("OTEL_BSP_SCHEDULE_DELAY"), 5_000)
        queueSize = try number(variable("OTEL_BSP_MAX_QUEUE_SIZE"), SpanQueue.usualSize)
        batchSize = min(queueSize, try number(variable("OTEL_BSP_MAX_EXPORT_BATCH_SIZE"), SpanQueue.usualBatch))
    }

    /// Reads `name=value,name=value` with percent-encoded values (W3C Baggage, without properties).
    private static func pairs(
        _ list: (name: String, value: String)?
    ) throws(SettingError) -> [(name: String, value: String)] {
        guard let list else { return [] }
        var pairs: [(name: String, value: String)] = []
        for part in list.value.split(separator: ",") {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard halves.count == 2, !halves[0].isEmpty, let value = PercentEncoding.decoded(halves[1].utf8),
                let text = String(validating: value, as: UTF8.self)
            else {
                // The value may be a secret.
                let place = "entry \(pairs.count + 1)"
                throw SettingError(description: "\(list.name) is not a list 'name=value,name=value': see \(place).")
            }
            pairs.append((halves[0], text))
        }
        return pairs
    }

    /// RFC 9110 §5.1 and §5.5.
    private static func isField(_ name: String, _ value: String) -> Bool {
        name.isToken && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
