/// One file of a profile: its name and its text, as they are read, kept with a session, edited and sent to a running
/// Sluice.
package struct ProfileSource: Sendable, Hashable, Codable {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case file, text
        case isUnsaved = "unsaved"
    }

    /// The file, by the name that was given to us.
    package var file: String
    package var text: String
    /// Whether the text is in force without having been written to the file.
    package var isUnsaved: Bool

    package init(file: String, text: String, isUnsaved: Bool = false) {
        (self.file, self.text, self.isUnsaved) = (file, text, isUnsaved)
    }

    /// Reads a source; whether it is saved may be left out.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        file = try members.decode(String.self, forKey: .file)
        text = try members.decode(String.self, forKey: .text)
        isUnsaved = try members.decodeIfPresent(Bool.self, forKey: .isUnsaved) ?? false
    }
}
