import ArgumentParser
import Runner

extension ExportFormat {
    /// What help says of it.
    var defaultValueDescription: String { title }
}
