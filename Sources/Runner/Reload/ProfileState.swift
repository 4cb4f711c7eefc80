package import Stages

/// A file of the profile that is in force, and what of it is not on the disk.
package struct ProfileState: Codable, Sendable, Hashable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case file, text
        case isUnsaved = "unsaved"
    }

    /// The file, as it was named to us.
    package var file: String
    /// The text that is in force.
    package var text: String
    /// Whether the text was put in force without being written to the file.
    package var isUnsaved: Bool

    /// Describes a file.
    package init(file: String, text: String, isUnsaved: Bool = false) {
        self.file = file
        self.text = text
        self.isUnsaved = isUnsaved
    }

    /// Reads a file's state; whether it is saved may be left out.
    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownMembers(of: CodingKeys.self)
        let members = try decoder.container(keyedBy: CodingKeys.self)
        file = try members.decode(String.self, forKey: .file)
        text = try members.decode(String.self, forKey: .text)
        isUnsaved = try members.decodeIfPresent(Bool.self, forKey: .isUnsaved) ?? false
    }

    package var source: ProfileSource { ProfileSource(file: file, text: text) }
}
