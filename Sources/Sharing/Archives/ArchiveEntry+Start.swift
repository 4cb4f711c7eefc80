import Foundation
import HTTPModel

extension ArchiveEntry {
    private static let moments =
        Double(RecordedRange.moments.lowerBound)...Double(RecordedRange.moments.upperBound)

    /// Reads when it began, which is 1970 where that cannot be read; `name` is what the archive calls it.
    mutating func setStart(_ text: String, _ name: String, _ losses: ArchiveLosses) {
        startedDateTime = text
        guard let moment = ArchiveEntry.moment(text) else {
            if !text.isEmpty { losses.add(.unreadableTime(name)) }
            return
        }
        setStart(moment, name, losses)
    }

    /// Takes over the state that Sluice has written.
    mutating func setState(_ name: String) {
        let state = ExchangeRecord.State.allCases.first { $0.exportName == name }
        // Nothing is missing of it, if only as nobody has sent the request yet.
        isUnsent = state == .complete
        self.state = state == .blocked || state == .interrupted ? state : nil
    }

    /// Takes over when it began, in microseconds since 1970. What no session can keep becomes the nearest it can, and is
    /// counted.
    mutating func setStart(_ moment: Double, _ name: String, _ losses: ArchiveLosses) {
        startedAt = RecordedRange.nearest(moment, in: RecordedRange.moments)
        if !ArchiveEntry.moments.contains(moment) { losses.add(.outOfRange(name)) }
    }

    /// Microseconds since 1970; `nil` where the text is no time of ISO 8601.
    static func moment(_ text: String) -> Double? {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let date = (try? style.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
        return date.map { $0.timeIntervalSince1970 * 1_000_000 }
    }
}
