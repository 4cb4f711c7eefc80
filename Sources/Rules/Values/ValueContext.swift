package import ExchangeCore

/// What the values of a rule's texts can be, for one exchange and one rule that matches it.
package struct ValueContext {
    package init<Rule>(_ opening: ExchangeOpening, _ match: RuleMatch<Rule>) {}
}
