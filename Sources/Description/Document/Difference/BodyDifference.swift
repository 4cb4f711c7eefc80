import Content
import HTTPModel
import NIOCore
import Text

/// Compares two bodies: JSON and forms by meaning, other text by lines, other data by bytes.
struct BodyDifference {
    let root: Place.Root
    let old: LoadedBody
    let new: LoadedBody

    func write(into writer: inout DetailWriter) {
        for body in [old, new] { body.failure.map { writer.add("The body cannot be read: \($0)", .failure) } }
        if old.bytes == new.bytes {
            return writer.add(old.bytes.readableBytes == 0 ? "There is none." : "The body is the same.", .faint)
        }
        if old.isCut || new.isCut {
            writer.leaveOut("Only the first \(Measures.size(Int64(writer.options.bodyLimit))) of bodies are compared.")
        }
        let (before, after) = (BodyMeaning(old), BodyMeaning(new))
        switch BodyMeaning.Pair(before, after) {
        case .same: break
        case .json(let before, let after): write(JSONDifference.changes(before, after), &writer)
        case .named(let part, let before, let after):
            let entries = FieldDifference.entries(before, after, ignoringCase: false).filter { !$0.isSame }
            writer.changes(entries, named: { $0.place(root, part).description }, explains: false)
        case .text(let before, let after): LineDifference(old: before, new: after).write(into: &writer)
        case .bytes:
            let words = before.words(beside: after)
            writer.changes([FieldDifference.Entry(name: "\(root).body", old: words.0, new: words.1)], explains: false)
        }
    }

    private func write(_ changes: [JSONDifference.Change], _ writer: inout DetailWriter) {
        if changes.isEmpty { return writer.add("The JSON means the same.", .faint) }
        let entries = changes.prefix(JSONDifference.mostChanges).map { change in
            let place = Place(root, .json, change.steps).description
            return FieldDifference.Entry(name: place, old: change.old?.text, new: change.new?.text)
        }
        writer.changes(entries, explains: false)
        if changes.count > JSONDifference.mostChanges {
            writer.leaveOut("Only the first \(JSONDifference.mostChanges.grouped) differences are shown.")
        }
    }
}
