/// What agents may do with a tool's rules. Such rules read no files, send nothing to other hosts, and cannot find out a
/// secret by trying.
package struct AgentUse: Sendable {
    /// The part of the rule that is refused, and why.
    package typealias Refusal = (node: Node, reason: String)

    /// Looks at a rule as it is written; the hosts are those to which requests may be sent besides this machine.
    package let refusal: @Sendable (_ rule: Node, _ hosts: Set<String>) -> Refusal?

    package init(_ refusal: @escaping @Sendable (_ rule: Node, _ hosts: Set<String>) -> Refusal?) {
        self.refusal = refusal
    }

    package static let any = AgentUse { _, _ in nil }
}
