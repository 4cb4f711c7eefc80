import Files
import Foundation
import NIOCore
import Runner

/// The file with the user's ``ViewSettings``: `view.json` in Sluice's configuration directory.
package struct ViewSettingsFile: Sendable {
    /// No such file is larger, in bytes.
    private static let longest = 1 << 20

    let path: String

    package init(path: String = StandardPaths.configuration + "/view.json") { self.path = path }

    /// Gives a console the settings, and says what of them changes what it shows; a file that cannot be understood
    /// is told of once and left out.
    package func configure(_ model: inout ConsoleModel) {
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            let bytes = try InputFile.contents(of: path, atMost: ViewSettingsFile.longest)
            let settings = try JSONDecoder().decode(ViewSettings.self, from: Data(bytes))
            settings.apply(to: &model)
            if let words = settings.effects(on: model) { model.tell(words) }
        } catch {
            model.pin(
                "\(path) is left out, as it cannot be understood; the next change of the view replaces it.",
                .error
            )
        }
    }

    /// Writes the settings as a whole, readable only by the user; settings as at the first start need no file.
    func write(_ settings: ViewSettings) throws {
        guard settings != ViewSettings() else {
            if unlink(path) != 0, errno != ENOENT { throw ConsoleError("\(path) cannot be removed.") }
            return
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardPaths.makeDirectory((path as NSString).deletingLastPathComponent)
        let file = try OutputFile(path, isSecret: true, waits: false)
        try file.write(ByteBuffer(bytes: try encoder.encode(settings)))
        try file.finish()
    }

    /// Takes the settings of earlier consoles away.
    package func remove() { unlink(path) }
}

/// Writes the settings down when they change, off the screen's thread.
final class ViewSettingsKeeper {
    private let file: ViewSettingsFile
    private var kept: ViewSettings
    private var keptAt = ContinuousClock.now

    init(_ file: ViewSettingsFile, _ model: ConsoleModel) { (self.file, kept) = (file, ViewSettings(model)) }

    /// What is to be written, at most once a second; at the end at once.
    func changes(of model: ConsoleModel, isEnd: Bool = false) -> (@Sendable () throws -> Void)? {
        guard isEnd || ContinuousClock.now - keptAt >= .seconds(1) else { return nil }
        keptAt = .now
        // What an opened session hides comes back with the console's own.
        guard model.home == nil else { return nil }
        let settings = ViewSettings(model)
        guard settings != kept else { return nil }
        kept = settings
        return { [file] in try file.write(settings) }
    }
}
