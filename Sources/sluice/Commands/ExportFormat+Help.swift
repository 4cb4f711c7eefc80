import ArgumentParser
import Jobs

extension ExportFormat {
    /// What help says of it.
    var defaultValueDescription: String { title }
}
