/// One file of a profile, as read, edited, recorded and sent to a running Sluice.
package struct ProfileSource: Sendable, Hashable, Codable {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case file, text
        case isUnsaved = "unsaved"
    }

    package var file: String
    package var text: String
    /// Whether the text is in use but not saved.
    package var isUnsaved: Bool

    package init(file: String, text: String, isUnsaved: Bool = false) {
        self.file = file
        self.text = text
        self.isUnsaved = isUnsaved
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        file = try members.decode(String.self, forKey: .file)
        text = try members.decode(String.self, forKey: .text)
        isUnsaved = try members.decodeIfPresent(Bool.self, forKey: .isUnsaved) ?? false
    }
}
