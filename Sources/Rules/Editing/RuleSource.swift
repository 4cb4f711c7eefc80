package import HTTPModel

/// The recorded exchange that a rule is made from, and the part of it that the rule is about.
package struct RuleSource: Sendable {
    package let record: ExchangeRecord
    /// A value that the rule is to set.
    package var value: (place: Place, node: Node)?
    /// The lines of `answer` in a profile, if the recorded answer is short enough to stand in a rule.
    package var answer: String?

    package init(_ record: ExchangeRecord, value: (place: Place, node: Node)? = nil, answer: String? = nil) {
        self.record = record
        self.value = value
        self.answer = answer
    }
}
