import Content
package import ExchangeCore
package import Foundation
import HTTPModel
import NIOCore

/// Changes to a held message, applied in the order of declaration. Sluice sets Content-Length from the body.
package struct HoldEdit: Codable, Sendable, Hashable {
    /// Not percent-encoded.
    package struct Pair: Codable, Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    package struct ValueChange: Codable, Sendable, Hashable {
        /// Where the value is in the held message, for example `json.user.name`.
        package var place: String
        /// In a JSON body, a value that is not valid JSON is set as a string. `nil` removes the value.
        package var value: String?

        package init(place: String, value: String? = nil) { (self.place, self.value) = (place, value) }
    }

    /// Without content coding.
    package struct Body: Codable, Sendable, Hashable {
        package var text: String?
        /// Set if the body is not UTF-8 text.
        package var base64: Data?

        package init(_ bytes: Data) {
            text = String(validating: bytes, as: UTF8.self)
            base64 = text == nil ? bytes : nil
        }

        enum CodingKeys: String, CodingKey, CaseIterable {
            case text, base64
        }

        package init(from decoder: any Decoder) throws {
            try decoder.refuseUnknownMembers(of: CodingKeys.self)
            let members = try decoder.container(keyedBy: CodingKeys.self)
            text = try members.decodeIfPresent(String.self, forKey: .text)
            base64 = try members.decodeIfPresent(Data.self, forKey: .base64)
            guard (text == nil) != (base64 == nil) else {
                throw ControlError("A body is given as 'text' or as 'base64'.")
            }
        }

        var bytes: ByteBuffer { text.map { ByteBuffer(string: $0) } ?? ByteBuffer(bytes: base64 ?? Data()) }
    }

    /// The whole message in the form of ``HoldDetails/draft``. No other member may be set with it.
    package var raw: String?
    package var method: String?
    package var url: String?
    /// Also replaces the query if it has a `?`.
    package var path: String?
    package var removeHeaders: [String] = []
    /// Each field replaces all fields with the same name.
    package var headers: [Pair] = []
    /// Each field is added; existing fields with the same name are kept.
    package var addHeaders: [Pair] = []
    package var status: Int?
    package var body: Body?
    package var values: [ValueChange] = []

    package init() {}

    enum CodingKeys: String, CodingKey, CaseIterable {
        case raw, method, url, path, removeHeaders, headers, addHeaders, status, body, values
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownMembers(of: CodingKeys.self)
        let members = try decoder.container(keyedBy: CodingKeys.self)
        raw = try members.decodeIfPresent(String.self, forKey: .raw)
        method = try members.decodeIfPresent(String.self, forKey: .method)
        url = try members.decodeIfPresent(String.self, forKey: .url)
        path = try members.decodeIfPresent(String.self, forKey: .path)
        removeHeaders = try members.decodeIfPresent([String].self, forKey: .removeHeaders) ?? []
        headers = try members.decodeIfPresent([Pair].self, forKey: .headers) ?? []
        addHeaders = try members.decodeIfPresent([Pair].self, forKey: .addHeaders) ?? []
        status = try members.decodeIfPresent(Int.self, forKey: .status)
        body = try members.decodeIfPresent(Body.self, forKey: .body)
        values = try members.decodeIfPresent([ValueChange].self, forKey: .values) ?? []
    }

    package var isEmpty: Bool { self == HoldEdit() }

    package func apply(to message: HeldMessage) throws(ControlError) -> HeldMessage {
        if let raw {
            var others = self
            others.raw = nil
            guard others.isEmpty else { throw ControlError("A raw message excludes edits of its parts.") }
            return try HoldDraft(message).apply(raw)
        }
        var message = message
        try editTarget(&message)
        try editFields(&message)
        try editStatus(&message)
        if let body { try message.setDecodedBody(body.bytes) }
        if !values.isEmpty { try editValues(&message) }
        return message
    }

    /// The decision to send the message as edited, or unchanged if the edits change nothing.
    func resolution(for message: HeldMessage) throws(ControlError) -> HoldResolution {
        let edited = try apply(to: message)
        return .execute(edited.isSame(as: message) ? nil : edited)
    }

    private func editTarget(_ message: inout HeldMessage) throws(ControlError) {
        guard method != nil || url != nil || path != nil else { return }
        guard case .request(let head, let body, let destination) = message else {
            let hint = "Its status, header fields and body can be edited."
            throw ControlError("A response is held, which has no method, URL or path.", hint: hint)
        }
        var request = HeldRequest(head: head, destination: destination)
        if let method { try request.setMethod(method) }
        if let url { try request.setURL(url) }
        if let path { try request.setPath(path) }
        message = .request(request.head, body: body, destination: request.destination)
    }

    private func editFields(_ message: inout HeldMessage) throws(ControlError) {
        for name in removeHeaders {
            try HeaderRules.checkName(name)
            if message.fields.removeAll(FieldName(name)) == 0 {
                throw ControlError("There is no header field \(name) to remove.")
            }
        }
        for pair in headers {
            try HeaderRules.check(pair)
            message.fields.set(pair.name, pair.value)
        }
        for pair in addHeaders {
            try HeaderRules.check(pair)
            message.fields.append(pair.name, pair.value)
        }
    }

    private func editStatus(_ message: inout HeldMessage) throws(ControlError) {
        guard let status else { return }
        guard case .response(var head, let body) = message else {
            let reason = "The held message is a request; only a response has a status."
            throw ControlError(reason, hint: "Edit its method or URL.")
        }
        try head.setStatus(status)
        message = .response(head, body: body)
    }

    private func editValues(_ message: inout HeldMessage) throws(ControlError) {
        var request: HeldRequest?
        if case .request(let head, _, let destination) = message {
            request = HeldRequest(head: head, destination: destination)
        }
        var writer = PlaceWriter(isRequest: request != nil, fields: message.fields, query: request?.query)
        var body: [UInt8]?
        for change in values {
            let place = try change.read(in: request == nil ? .response : .request)
            if [.json, .form].contains(place.part), body == nil {
                writer.body = Array(try HoldEdit.decodedBody(of: message).readableBytesView)
                body = writer.body
            }
            do throws(PlaceWriteError) {
                try writer.set(change.value, at: place)
            } catch {
                throw ControlError("The message cannot be edited: \(error).")
            }
        }
        // The query is part of the request target, not of the fields, so it is set separately.
        message.fields = writer.fields
        if request != nil, writer.query != request?.query, case .request(let head, let body, let place) = message {
            var edited = HeldRequest(head: head, destination: place)
            edited.query = writer.query
            message = .request(edited.head, body: body, destination: place)
        }
        if body != nil, body != writer.body { try message.setDecodedBody(ByteBuffer(bytes: writer.body)) }
    }

    private static func decodedBody(of message: HeldMessage) throws(ControlError) -> ByteBuffer {
        guard let content = HoldContent(message) else { throw ControlError.bodyStreamsOn }
        if let problem = content.problem {
            throw ControlError("The body cannot be decoded: \(problem).", hint: "It can be replaced as a whole.")
        }
        return content.bytes
    }
}

extension HoldEdit.ValueChange {
    /// Parses the place, and checks that a message of this kind (`root`) can have the place and the value.
    fileprivate func read(in root: Place.Root) throws(ControlError) -> Place {
        let place: Place
        do throws(PlaceError) {
            place = try Place(self.place, in: root)
        } catch {
            throw ControlError("'\(self.place.prefix(60))' is not a place: \(error).")
        }
        guard place.root == root else {
            throw ControlError(
                "The held message is a \(root == .request ? "request" : "response") and has no \(place)."
            )
        }
        if place.part == .header { try HeaderRules.check(HoldEdit.Pair(place.name ?? "", value ?? "")) }
        if place.part == .cookie {
            try HeaderRules.check(HoldEdit.Pair("Cookie", "\(place.name ?? "")=\(value ?? "")"))
        }
        return place
    }
}
