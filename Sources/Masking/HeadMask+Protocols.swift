/// `Sec-WebSocket-Protocol`, in which browsers put credentials, as they let a page set no other field of a handshake.
extension HeadMask {
    /// What stands before a token within one protocol, as of Kubernetes and OpenAI.
    private static let beginnings = [
        "base64url.bearer.authorization.k8s.io.", "bearer.", "token.", "access_token.", "openai-insecure-api-key.",
        "header-", "auth-", "jwt.",
    ]

    func protocols(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>, _ name: String) -> [Mark] {
        var marks: [Mark] = []
        var isNamed = false
        for part in bytes[value].split(separator: UInt8(ascii: ",")) {
            var start = part.startIndex
            var end = part.endIndex
            while start < end, HeadMask.isSpace(bytes[start]) { start += 1 }
            while end > start, HeadMask.isSpace(bytes[end - 1]) { end -= 1 }
            let beginning = HeadMask.beginnings.first { text in
                end - start > text.utf8.count
                    && zip(bytes[start..<end], text.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
            }
            let token = start + (beginning?.utf8.count ?? 0)..<end
            let text = UnsafeRawBufferPointer(rebasing: bytes[token])
            let isSecret =
                beginning == nil ? isNamed && text.count >= 8 || ValueShape.isRandom(text, least: 20) : text.count >= 8
            if isSecret {
                noteDecoded(bytes, token, name)
                marks += secret(bytes, token, .token, name)
            } else {
                marks += self.marks(bytes, start..<end, .field)
            }
            isNamed =
                mask.names.kind(of: bytes[start..<end]) != nil || CredentialScheme.isOne(bytes[start..<end])
        }
        return marks
    }

    /// Notes what a token is that stands in base64, as one of Kubernetes does.
    private func noteDecoded(_ bytes: UnsafeRawBufferPointer, _ token: Range<Int>, _ name: String) {
        guard let content = Base64Content(bytes[token]), content.isText, content.bytes.count >= 16,
            content.bytes.allSatisfy({ RunScanner.isOfRun[Int($0)] })
        else { return }
        mask.note(FoundSecret(range: token, kind: .token, name: name, secret: content.bytes))
    }
}
