import HTTPModel
import Support
import Terminal
import Testing
import Tools

@testable import Console

/// What commands are about in the structure: what is selected there, and never the row of the sequence.
struct StructureUpdateTests {
    private static let site = "http://api.example.com:8080"
    /// The selected row of the sequence, which the structure does not show.
    private static let hidden = ExchangeID(9)
    /// Commands that are about one exchange, with what has to follow them.
    private static let aboutOne: [(command: Command, argument: String?)] = [
        (.why, nil), (.saveBody, "file"), (.compare, nil),
        (.repeatRequest, nil), (.compose, nil), (.repeatAdvanced, "2 x 1"), (.page, "response"),
    ]

    /// Commands that change only what the screen shows.
    private static let quiet: Set<Command> = [
        .columns, .filter, .sort, .searchBodies, .highlight,
    ]

    @Test(arguments: [40, 60, 80, 120])
    func `a leaf has status, size and time of its newest exchange, and so has each of its exchanges`(_ width: Int) {
        var model = ModelFixture.listing(ModelFixture.plain(4), Size(width: width, height: 24))
        model.press("tab")
        var leaf = Self.child("items", isLeaf: true, newest: 4)
        leaf.record = ModelFixture.record(4, status: 404) { $0.timings.total = 1_500_000 }
        Self.tell(&model, StructureNode(), [leaf, Self.child("users", isLeaf: false, newest: 7)])
        model.press("right")
        let generation = model.list.generation
        _ = model.update(
            .query(.exchanges(at: leaf.node, generation: generation, [ModelFixture.record(3, status: 201)]))
        )
        let rows = (0..<5).map { ConsoleView.draw(model).row(Layout(model).list.y + $0) }
        let hasRoom = width >= 64
        #expect(rows[0].contains("STATUS     SIZE     TIME    COUNT   ERRORS") == hasRoom && rows[0].contains("COUNT"))
        #expect(
            rows[1].contains("     404   1.2 KB    1.5 s        3") == hasRoom && rows[1].contains(" 3"),
            "\(rows[1])"
        )
        #expect(rows[2].contains("#3 ") && rows[2].contains("     201   1.2 KB  23.4 ms") == hasRoom, "\(rows[2])")
        #expect(rows[4].contains(" users ") && !rows[4].contains("KB"))
    }

    private static func child(_ name: String, isLeaf: Bool, newest: Int64) -> StructureChild {
        let node = StructureNode(site: site, segments: [name])
        return StructureChild(name: name, node: node, isLeaf: isLeaf, newest: ExchangeID(newest), count: 3)
    }

    /// The structure with one site, open: the leaf `items` with exchange 4, and the branch `users`.
    private static func model(at name: String) -> ConsoleModel {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 160, height: 30))
        model.marks = [ExchangeID(2)]
        model.press("tab")
        let node = StructureNode(site: site)
        let top = StructureChild(name: site, node: node, isLeaf: false, newest: ExchangeID(7), count: 6)
        tell(&model, StructureNode(), [top])
        model.press("enter")
        tell(&model, node, [child("items", isLeaf: true, newest: 4), child("users", isLeaf: false, newest: 7)])
        while model.structure.selectedRow?.child.name != name, model.structure.selected < 2 { model.press("down") }
        return model
    }

    private static func tell(_ model: inout ConsoleModel, _ node: StructureNode, _ children: [StructureChild]) {
        let level = StructureLevel(node: node, generation: model.list.generation, children: children)
        _ = model.update(.query(.structure(level)))
    }

    @Test(arguments: Command.allCases, ["items", "users", site])
    func `no command is about a row that is not on the screen`(_ command: Command, _ name: String) {
        let arguments = Self.aboutOne.filter { $0.command == command }.map(\.argument)
        for argument in Set(arguments + [nil, "block", "sequence"]) {
            var model = Self.model(at: name)
            #expect(model.structure.selectedRow?.child.name == name)
            #expect(model.list.selectedID == Self.hidden)
            let before = model.marks
            let effects = model.perform(command, argument)
            #expect(!effects.flatMap(\.exchanges).contains(Self.hidden), "\(command) \(effects.words)")
            #expect(model.list.selectedID == Self.hidden && model.list.selected == 0, "\(command)")
            #expect(Set(model.marks).subtracting(before).isSubset(of: name == "items" ? [ExchangeID(4)] : []))
            // Nothing is silent: it does something, opens something, or says why not.
            let isSilent = effects.isEmpty && model.overlays.isEmpty && model.notices.isEmpty
            let isMoving = CommandTable.entry(command)?.group == .move || Self.quiet.contains(command)
            #expect(!isSilent || isMoving, "\(command) at \(name)")
        }
    }

    @Test(arguments: aboutOne)
    func `a leaf stands for its newest exchange`(_ command: Command, _ argument: String?) {
        var model = Self.model(at: "items")
        #expect(model.whyNot(command) == nil)
        // The marked ones would be sent.
        if command == .repeatRequest { model.marks = [] }
        let effects = model.perform(command, argument)
        #expect(effects.flatMap(\.exchanges).last == ExchangeID(4), "\(effects.words)")
    }

    @Test(arguments: aboutOne)
    func `a branch is no exchange, which is told`(_ command: Command, _ argument: String?) {
        for name in ["users", Self.site] {
            var model = Self.model(at: name)
            #expect(model.whyNot(command)?.contains("This is a branch") == true)
            #expect(model.perform(command, argument).isEmpty)
            #expect(model.told == model.whyNot(command))
            #expect(model.overlays.isEmpty && !model.detail.isOpen && model.marks == [ExchangeID(2)])
        }
    }

    @Test func `a leaf is copied as its newest exchange, a branch not at all without marks`() {
        var leaf = Self.model(at: "items")
        leaf.marks = []
        #expect(leaf.perform(.copy, "python").words == ["copy python 4"])
        #expect(leaf.perform(.copyCurl, nil).words == ["copy curl 4"])
        for name in ["users", Self.site] {
            var branch = Self.model(at: name)
            branch.marks = []
            for command in [Command.copy, .copyCurl] {
                #expect(branch.perform(command, command == .copy ? "url" : nil).isEmpty)
                #expect(branch.told.contains("This is a branch"), "\(branch.told)")
            }
            // What is marked is selected wherever the cursor is.
            branch.marks = [ExchangeID(2)]
            #expect(branch.perform(.copy, "url").words == ["copy url 2"])
        }
    }

    @Test func `a rule is made for all below a branch, and of a leaf from its exchange`() {
        var leaf = Self.model(at: "items")
        #expect(leaf.press("a", "b").words == ["draft block 4 0"])
        var branch = Self.model(at: "users")
        #expect(branch.press("a", "b").words == ["draft block \(Self.site)/users 0"])
        branch.press("B")
        #expect(branch.press("a").words == ["draft block \(Self.site)/users 0"])
        var site = Self.model(at: Self.site)
        #expect(site.press("a", "k").words == ["draft breakpoints \(Self.site) 0"])
        let editor = EditorState(
            purpose: .rule(.blockList, replaces: nil),
            title: "Block list",
            area: TextArea("at: x"),
            origin: .place(StructureNode(site: Self.site))
        )
        site.answer { $0.open(editor) }
        #expect(site.press("ctrl-t").words == ["draft block \(Self.site) 1"])
    }

    @Test(arguments: ["items", "users", site])
    func `the focus is on the host of what is selected`(_ name: String) {
        var model = Self.model(at: name)
        model.press("i")
        #expect(model.list.query.focusedHosts == ["api.example.com:8080"])
        // The tree comes again, and with it what was selected.
        Self.tell(&model, StructureNode(), [Self.top])
        Self.tell(&model, StructureNode(site: Self.site), Self.children)
        #expect(model.structure.selectedRow?.child.name == name)
        model.press("I")
        #expect(model.list.query.ignoredHosts == ["api.example.com:8080"])
        #expect(model.list.query.focusedHosts.isEmpty)
    }

    @Test func `the footer offers what can be done`() {
        func words(_ name: String) -> [String] { FooterView.hints(Self.model(at: name)).map(\.word) }
        #expect(Set(["mark", "why", "copy", "repeat", "add rule"]).isSubset(of: words("items")))
        #expect(Set(["why", "repeat", "follow", "jump"]).isDisjoint(with: words("users")))
        #expect(Set(["add rule", "mark"]).isSubset(of: words("users")))
    }

    @Test func `what belongs to the rows of the sequence says where they are`() {
        for command in [Command.goTo, .next, .previous, .follow] {
            var model = Self.model(at: "items")
            #expect(model.perform(command, "3").isEmpty)
            #expect(model.told == "Only in the sequence; tab, pressed twice, shows it.")
            #expect(model.overlays.isEmpty)
        }
    }

    @Test func `a kind to go to is chosen here too, so that its letters are no commands`() {
        var model = Self.model(at: "items")
        model.press("J")
        model.type("errors")
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("no choice is open")
            return
        }
        #expect(picker.line.text == "errors")
        #expect(model.press("enter").isEmpty && model.overlays.isEmpty)
        #expect(model.jump == .error && model.told.hasPrefix("] and [ jump to: errors"))
        #expect(model.told.hasSuffix("Only in the sequence; tab, pressed twice, shows it."))
    }

    @Test func `the selected place stays selected when others come before it`() {
        var model = Self.model(at: "items")
        model.marks = []
        let names = ["a", "b", "items", "users"]
        Self.tell(&model, StructureNode(site: Self.site), names.map { Self.child($0, isLeaf: true, newest: 4) })
        #expect(model.structure.selectedRow?.child.name == "items")
        #expect(model.press("p").words == ["send 4"])
        let many = (0..<60).map { Self.child("a\($0)", isLeaf: true, newest: 5) }
        Self.tell(&model, StructureNode(site: Self.site), many + [Self.child("items", isLeaf: true, newest: 8)])
        #expect(ConsoleView.draw(model).text.contains("items"))
        #expect(model.press("p").words == ["send 8"])
    }

    @Test func `what is open beside the tree stays open, whatever comes`() {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 160, height: 30))
        _ = model.perform(.open, "3")
        model.press("tab")
        ModelFixture.answer(&model, ModelFixture.plain(12))
        #expect(model.update(.resized(Size(width: 150, height: 30))).flatMap(\.exchanges) == [ExchangeID(3)])
        #expect(model.detail.id == ExchangeID(3))
    }

    @Test func `on lines the tree is only written, and the list is what commands are about`() {
        var model = Self.model(at: "users")
        (model.isLinear, model.marks) = (true, [])
        #expect(model.perform(.repeatRequest, nil).words == ["send 9"])
    }

    @Test func `the open exchange is what commands are about, not the row beside it`() {
        var model = ModelFixture.listing(ModelFixture.plain(8), Size(width: 160, height: 30))
        ModelFixture.answer(
            &model,
            ModelFixture.plain(8) + [ModelFixture.record(9, "GET", "http://localhost:3000/last")]
        )
        _ = model.perform(.open, "3")
        ModelFixture.answer(
            &model,
            ModelFixture.plain(8) + [ModelFixture.record(9, "GET", "http://localhost:3000/last")]
        )
        model.list.selected = 0
        // The host that would be asked is 3's, not this machine.
        _ = model.perform(.repeatAdvanced, "200 x 2")
        guard case .confirm(let question)? = model.overlays.last else {
            Issue.record("nothing was asked")
            return
        }
        #expect(question.question.contains("api.example.com"))
        model.press("n", "B")
        #expect(model.press("a").words == ["draft block 3 0"])
    }

    // MARK: - Leaves

    private static func exchanges(_ numbers: [Int64]) -> [ExchangeRecord] {
        numbers.map { ModelFixture.record($0, "GET", "\(site)/items?page=\($0)") }
    }

    private static func tell(_ model: inout ConsoleModel, _ numbers: [Int64], at name: String = "items") {
        let node = StructureNode(site: site, segments: [name])
        let generation = model.list.generation
        _ = model.update(.query(.exchanges(at: node, generation: generation, exchanges(numbers))))
    }

    @Test func `a leaf opens in place, and arrows show the next one`() {
        var model = Self.model(at: "items")
        _ = model.perform(.filter, "host:api")
        Self.tell(&model, StructureNode(), [Self.top])
        Self.tell(&model, StructureNode(site: Self.site), Self.leaves)
        while model.structure.selectedRow?.child.name != "items" { model.press("down") }
        #expect(model.press("enter").words.first?.hasPrefix("detail 4 ") == true)
        #expect(model.view == .structure && model.context == .list && model.detail.isOpen)
        #expect(model.filter.applied == "host:api")
        #expect(model.press("down").words.first?.hasPrefix("detail 6 ") == true)
        #expect(model.structure.selectedRow?.child.name == "orders")
        model.press("up")
        #expect(model.detail.id == ExchangeID(4))
        model.press("enter")
        #expect(model.context == .detail)
        model.press("esc", "esc")
        #expect(!model.detail.isOpen && model.structure.selectedRow?.child.name == "items")
    }

    private static let top = StructureChild(
        name: site,
        node: StructureNode(site: site),
        isLeaf: false,
        newest: ExchangeID(7),
        count: 6
    )
    private static let children = [
        child("items", isLeaf: true, newest: 4), child("users", isLeaf: false, newest: 7),
    ]
    private static let leaves = [
        child("items", isLeaf: true, newest: 4), child("orders", isLeaf: true, newest: 6),
    ]

    @Test func `where only one of both has room, the detail gets the keys at once`() {
        var model = Self.model(at: "items")
        _ = model.update(.resized(Size(width: 60, height: 12)))
        model.press("enter")
        #expect(model.context == .detail)
    }

    @Test func `the exchanges of a leaf are gone through, and are rows where it is opened as a branch`() {
        var model = Self.model(at: "items")
        #expect(model.press("enter").words.contains("exchanges \(Self.site)/items"))
        Self.tell(&model, [4, 3, 2])
        model.press("enter")
        #expect(model.moveInLeaf(1).words.first?.hasPrefix("detail 3 ") == true)
        #expect(model.moveInLeaf(1).words.first?.hasPrefix("detail 2 ") == true)
        #expect(model.moveInLeaf(1).isEmpty && model.told == "This is the oldest exchange of items.")
        model.press("esc", "esc")
        let count = model.structure.rows.count
        model.press("right")
        #expect(model.structure.rows.count == count + 3)
        model.press("down", "down")
        #expect(model.selectedID == ExchangeID(3))
        model.marks = []
        #expect(model.press("p").words == ["send 3"])
        #expect(ConsoleView.draw(model).text.contains("#3 "))
        model.press("space")
        #expect(model.marks.last == ExchangeID(3) && ConsoleView.draw(model).text.contains("*#3 "))
        model.press("left", "left")
        #expect(model.structure.rows.count == count && model.structure.selectedRow?.child.name == "items")
    }

    @Test func `of a leaf with more exchanges than are shown, it is said how many more`() {
        var model = Self.model(at: "items")
        let node = StructureNode(site: Self.site, segments: ["items"])
        var child = Self.child("items", isLeaf: true, newest: 400)
        child = StructureChild(name: "items", node: node, isLeaf: true, newest: ExchangeID(400), count: 60)
        Self.tell(&model, StructureNode(site: Self.site), [child])
        model.press("right")
        Self.tell(&model, (351...400).reversed())
        #expect(model.structure.rows.last?.more == 10)
        model.press("end")
        #expect(model.selectedID == nil && ConsoleView.draw(model).text.contains("and 10 more: / narrows them"))
        #expect(model.press("enter").isEmpty && model.told.hasPrefix("The 50 newest are shown"))
    }

    @Test func `a branch shows the exchanges at its own path above what is below it`() {
        var model = Self.model(at: "users")
        model.press("enter")
        let node = StructureNode(site: Self.site, segments: ["users"])
        let below = StructureChild(
            name: "5",
            node: StructureNode(site: Self.site, segments: ["users", "5"]),
            isLeaf: true,
            newest: ExchangeID(5),
            count: 2
        )
        let level = StructureLevel(node: node, generation: model.list.generation, children: [below])
        #expect(model.update(.query(.structure(level))).words == ["exchanges \(Self.site)/users"])
        Self.tell(&model, [7], at: "users")
        let row = model.structure.rows.first { $0.exchange?.id == ExchangeID(7) }
        #expect(row?.depth == 2)
    }

    @Test func `while a session that was edited is read again, the tree stays and has the keys`() {
        var model = Self.model(at: "items")
        model.press("right")
        Self.tell(&model, [4, 3, 2])
        let before = model.structure.rows
        let again = model.update(.query(.stale(generation: model.list.generation)))
        #expect(again.words.contains("structure \(Self.site)"))
        #expect(model.structure.rows == before)
        model.marks = []
        #expect(model.press("d").words == ["delete 4"])
        // Half a count replaces nothing, a whole one does, and then the exchanges are read again as well.
        let site = StructureNode(site: Self.site)
        let items = Self.child("items", isLeaf: true, newest: 4)
        let half = StructureLevel(node: site, generation: model.list.generation, children: [], progress: 0.5)
        _ = model.update(.query(.structure(half)))
        #expect(model.structure.rows == before)
        let whole = StructureLevel(node: site, generation: model.list.generation, children: [items])
        #expect(model.update(.query(.structure(whole))).words.contains("exchanges \(Self.site)/items"))
        #expect(model.structure.rows.count == before.count - 1)
        Self.tell(&model, [4, 2])
        #expect(model.structure.rows.compactMap(\.exchange?.id) == [ExchangeID(4), ExchangeID(2)])
        // The tree of another filter begins anew.
        _ = model.perform(.filter, "status:404")
        #expect(model.structure.rows.isEmpty)
    }

    @Test func `a branch is marked and exported as a whole`() {
        var model = Self.model(at: "users")
        #expect(model.press("space").words == ["numbers \(Self.site)/users 100000"])
        let generation = model.list.generation
        _ = model.update(.query(.numbers(generation: generation, [5, 6, 7], hasMore: false)))
        #expect(model.marks == [2, 5, 6, 7].map { ExchangeID($0) } && model.told == "3 more marked, 4 in all.")
        _ = model.update(.query(.numbers(generation: generation, [5, 6, 7], hasMore: false)))
        #expect(model.marks == [ExchangeID(2)])
        model.marks = []
        model.press("E")
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("no choice")
            return
        }
        #expect(picker.items.first?.title == "cURL script: the 3 of \(Self.site)/users")
        model.press("enter")
        guard case .export(let request)? = model.press("enter").first else {
            Issue.record("no export")
            return
        }
        #expect(request.ids == nil && request.query.place?.segments == ["users"])
    }
}
