typealias DraftValue = Node
typealias DraftField = Node.Member
