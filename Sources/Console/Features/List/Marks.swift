import HTTPModel

extension ConsoleModel {
    /// The maximum number of marks: more would need too much memory, and no command handles more exchanges.
    static let mostMarks = 100_000

    /// Marks or unmarks an exchange, or all exchanges of a branch; after marking the selected row, moves to the next.
    mutating func mark(_ argument: String?) -> [Effect] {
        if argument == nil, let branch = selectedBranch { return loadNumbers(below: branch) }
        guard let id = selected(argument) else { return [] }
        if let index = marks.firstIndex(of: id) {
            marks.remove(at: index)
        } else {
            guard marks.count < Self.mostMarks else {
                return refuse("At most \(Self.mostMarks) exchanges can be marked.")
            }
            marks.append(id)
        }
        // Neither linear mode nor a leaf of the tree shows marks.
        if isTreeInUse || isLinear { tell("\(id) is \(marked.contains(id) ? "marked" : "not marked any more").") }
        let moves = view == .sequence && argument == nil && !isLinear && context == .list ? move(by: 1) : []
        return moves + remarked()
    }

    func loadNumbers(below branch: StructureNode?) -> [Effect] {
        [.numbers(below: branch, most: Self.mostMarks, generation: list.generation)]
    }

    mutating func mark(_ ids: [ExchangeID], hasMore: Bool) -> [Effect] {
        let new = ids.filter { !marked.contains($0) }
        if new.isEmpty, !ids.isEmpty {
            let gone = Set(ids)
            marks.removeAll { gone.contains($0) }
            tell("\(ids.count) unmarked; \(marks.count) marked.")
            return remarked()
        }
        let room = Self.mostMarks - marks.count
        // If there is not enough room for all, the newest are marked.
        marks += new.suffix(room)
        if hasMore || new.count > room {
            tell("Only the newest are marked, \(marks.count) in all: \(Self.mostMarks) is the limit.", .error)
        } else {
            tell("\(new.count) more marked, \(marks.count) in all.")
        }
        return remarked()
    }

    mutating func unmarkAll() -> [Effect] {
        tell("\(LinearSentence.count(marks.count, "exchange")) \(marks.count == 1 ? "is" : "are") unmarked.")
        marks = []
        return remarked()
    }

    mutating func showMarked() -> [Effect] {
        let numbers = list.query.only == nil ? marks.map(\.number).sorted() : nil
        let only = "Showing only marked exchanges; \(way(to: .showMarked)) shows all."
        tell(numbers == nil ? "Showing all exchanges." : only)
        return ask { $0.only = numbers }
    }

    func countHidden() -> [Effect] {
        let isWhole = marks.isEmpty || list.total == list.sessionTotal
        return isWhole ? [] : [.countHidden(marks, generation: list.generation)]
    }

    /// Reloads the list if only marked exchanges are shown.
    private mutating func remarked() -> [Effect] {
        guard list.query.only != nil else { return countHidden() }
        let numbers = marks.isEmpty ? nil : marks.map(\.number).sorted()
        return ask { $0.only = numbers }
    }

    mutating func focusHost(_ argument: String?) -> [Effect] {
        let chosen: Set<String>
        if let argument {
            chosen = Set(argument.lowercased().split { $0 == " " || $0 == "," }.map { String($0) })
        } else if view == .sequence, marks.count > 1 {
            let marked = Set(marks)
            let records = list.rows.values.filter { marked.contains($0.id) }
            let missing = marked.count - records.count
            guard missing == 0 else {
                return refuse("\(missing) of the marked exchanges are not loaded; name the hosts: focus HOST.")
            }
            chosen = Set(records.map(\.url.authority))
        } else {
            chosen = Set([selectedAuthority].compactMap(\.self))
        }
        guard !chosen.isEmpty else {
            return argument == nil ? [] : refuse("focus takes names of hosts, for example: focus api.example.com")
        }
        let hosts = list.query.focusedHosts.symmetricDifference(chosen)
        let removes = hosts.count > 1 ? "on one removes it" : "removes it"
        let ways = "\(way(to: .focusHost)) \(removes), \(way(to: .clearFilter)) shows all."
        tell(hosts.isEmpty ? "All hosts are shown." : "Showing only \(ListQuery.names(hosts)); \(ways)")
        return ask { $0.focusedHosts = hosts }
    }

    mutating func ignoreHost(_ argument: String?) -> [Effect] {
        guard let host = argument?.lowercased() ?? selectedAuthority else { return [] }
        guard !list.query.ignoredHosts.contains(host) else { return unignore(host) }
        tell("\(host) is hidden but still recorded; \(way(to: .unignore)) shows it again.")
        return ask {
            $0.ignoredHosts.insert(host)
            $0.focusedHosts.remove(host)
        }
    }

    mutating func unignore(_ word: String) -> [Effect] {
        let host = word.lowercased()
        let hosts = list.query.ignoredHosts
        guard host == "all" || hosts.contains(host) else {
            return refuse("\(word.prefix(60)) is not ignored; ignored: \(ListQuery.names(hosts)).")
        }
        tell(host == "all" ? "No host is ignored now." : "\(host) is shown again.")
        return ask { $0.ignoredHosts = host == "all" ? [] : $0.ignoredHosts.subtracting([host]) }
    }
}
