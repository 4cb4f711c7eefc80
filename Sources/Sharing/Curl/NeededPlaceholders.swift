import Masking

/// The placeholders whose variables a script needs, each once, in the order in which they came.
struct NeededPlaceholders {
    private(set) var inOrder: [Placeholder] = []
    private var known: Set<Placeholder> = []

    mutating func add(_ placeholder: Placeholder) {
        if known.insert(placeholder).inserted { inOrder.append(placeholder) }
    }
}
