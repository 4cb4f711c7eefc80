package import NIOCore

/// The fields of a head or trailer section: a byte buffer and offsets into it. Received bytes stay; edits append to the
/// buffer and repoint an entry, so an unchanged line is written exactly as received.
package struct FieldSection: Sendable {
    struct Run: Sendable, Hashable {
        var start: UInt32
        var count: UInt32

        var range: Range<Int> { Int(start)..<(Int(start) + Int(count)) }
    }

    struct Entry: Sendable {
        /// The line with its CRLF if it can be written unchanged; empty if it must be composed.
        var line: Run
        var name: Run
        var value: Run
        var hash: UInt32
    }

    /// Includes a head's start line.
    var buffer: ByteBuffer
    var entries: [Entry] = []
    /// Edits are stored after the received bytes.
    let receivedLength: Int
    /// Whether the received form must not be forwarded (a bare LF, an obs-fold).
    package private(set) var needsRewriting = false
    /// Whether names are not tokens or values have control characters, which HTTP/2 cannot carry.
    package private(set) var hasOddities = false
    /// A bit for each name that was ever added, by its hash: most names that are looked for are not there.
    private var present: UInt64 = 0
    package internal(set) var revision: UInt32 = 0
    package var isChanged: Bool { revision != 0 }

    package init() {
        buffer = ByteBuffer()
        receivedLength = 0
    }

    package init(received: ByteBuffer, expectedCount: Int = 16) {
        buffer = received.readerIndex == 0 ? received : received.slice()
        receivedLength = received.readableBytes
        entries.reserveCapacity(expectedCount)
    }

    /// Adds a received line by offsets: `value` without surrounding white space, `line` with its CRLF, or `nil` if it
    /// must be composed again (a bare LF, an obs-fold).
    package mutating func appendReceived(name: Range<Int>, value: Range<Int>, line: Range<Int>?) {
        let hash = buffer.withUnsafeReadableBytes { FieldName.hash(UnsafeRawBufferPointer(rebasing: $0[name])) }
        let line = line.map(Run.init)
        add(Entry(line: line ?? Run(0..<0), name: Run(name), value: Run(value), hash: hash))
        if line == nil { needsRewriting = true }
    }

    /// Adds a folded line (obs-fold); line breaks become spaces (RFC 9112 §5.2).
    package mutating func appendReceived(name: Range<Int>, unfolding value: Range<Int>) {
        let unfolded = buffer.readableBytesView[value].map { $0 == 0x0D || $0 == 0x0A ? 0x20 : $0 }
        let start = buffer.writerIndex
        buffer.writeBytes(unfolded)
        appendReceived(name: name, value: start..<buffer.writerIndex, line: nil)
    }

    /// `nil` for a composed head.
    package var received: ByteBuffer? { receivedLength > 0 ? buffer.getSlice(at: 0, length: receivedLength) : nil }

    /// The received bytes if they may be forwarded as they are.
    package var unchanged: ByteBuffer? { isChanged || needsRewriting ? nil : received }

    /// For a start line that must not be forwarded as it is.
    package mutating func requireRewriting() { needsRewriting = true }

    package mutating func noteOddities() { hasOddities = true }

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }
}

extension FieldSection.Run {
    init(_ range: Range<Int>) {
        self.init(start: UInt32(truncatingIfNeeded: range.lowerBound), count: UInt32(truncatingIfNeeded: range.count))
    }
}

// MARK: - Reading

package struct Field: Sendable, Hashable {
    /// The value has no surrounding white space.
    package let nameBytes: ByteBufferView
    package let valueBytes: ByteBufferView
    package var name: String { nameBytes.withUnsafeBytes { String(fieldBytes: $0) } }
    /// UTF-8 if the bytes are valid UTF-8, if not Latin-1 (RFC 9110 §5.5).
    package var value: String { valueBytes.withUnsafeBytes { String(fieldBytes: $0) } }
}

extension String {
    package init(fieldBytes bytes: some Sequence<UInt8>) {
        self = Array(bytes).withUnsafeBytes { String(fieldBytes: $0) }
    }

    package init(fieldBytes bytes: UnsafeRawBufferPointer) {
        let units = bytes.assumingMemoryBound(to: UInt8.self)
        // The check for UTF-8 is generic, and costs 700 instructions before it reads a byte.
        if units.allSatisfy({ $0 < 0x80 }) {
            self = String(decoding: units, as: UTF8.self)
            return
        }
        if let text = String(validating: units, as: UTF8.self) {
            self = text
            return
        }
        var scalars = String.UnicodeScalarView()
        for byte in units { scalars.append(Unicode.Scalar(byte)) }
        self = String(scalars)
    }
}

extension FieldSection: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { entries.count }
    package subscript(position: Int) -> Field {
        let entry = entries[position]
        return Field(nameBytes: view(entry.name), valueBytes: view(entry.value))
    }

    /// The received line without its line break; `nil` if it must be composed.
    package func receivedLine(_ position: Int) -> ByteBufferView? {
        let line = view(entries[position].line)
        guard !line.isEmpty else { return nil }
        return line[..<(line.firstIndex { $0 == 0x0D || $0 == 0x0A } ?? line.endIndex)]
    }

    func text(_ run: Run) -> String {
        buffer.withUnsafeReadableBytes { String(fieldBytes: UnsafeRawBufferPointer(rebasing: $0[run.range])) }
    }

    func view(_ run: Run) -> ByteBufferView {
        buffer.viewBytes(at: Int(run.start), length: Int(run.count)) ?? ByteBufferView()
    }

    package func forEachLine(
        _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        try buffer.withUnsafeReadableBytes { bytes in
            for entry in entries {
                try body(
                    UnsafeRawBufferPointer(rebasing: bytes[entry.name.range]),
                    UnsafeRawBufferPointer(rebasing: bytes[entry.value.range])
                )
            }
        }
    }

    private mutating func add(_ entry: Entry) {
        entries.append(entry)
        present |= FieldSection.bit(entry.hash)
    }

    private static func bit(_ hash: UInt32) -> UInt64 { 1 << UInt64(hash & 63) }

    package func firstIndex(of name: FieldName, from start: Int = 0) -> Int? {
        guard present & FieldSection.bit(name.hash) != 0 else { return nil }
        var index = start
        while index < entries.count {
            let entry = entries[index]
            if entry.hash == name.hash, entry.name.count == UInt32(name.lowercased.utf8.count),
                withBytes(of: entry.name, { name.matches($0) })
            {
                return index
            }
            index += 1
        }
        return nil
    }

    package func contains(_ name: FieldName) -> Bool { firstIndex(of: name) != nil }

    package func value(of name: FieldName) -> String? { firstIndex(of: name).map { text(entries[$0].value) } }

    package func values(of name: FieldName) -> [String] {
        var values: [String] = []
        var start = 0
        while let index = firstIndex(of: name, from: start) {
            values.append(self[index].value)
            start = index + 1
        }
        return values
    }

    package func withValue<Result>(
        of name: FieldName,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        try firstIndex(of: name).map { try withBytes(of: entries[$0].value, body) }
    }

    package func withValue<Result>(
        at position: Int,
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try withBytes(of: entries[position].value, body)
    }

    @inline(__always)
    private func withBytes<Result>(of run: Run, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try buffer.withUnsafeReadableBytes { try body(UnsafeRawBufferPointer(rebasing: $0[run.range])) }
    }

    package func valueRange(at position: Int) -> Range<Int> { entries[position].value.range }

    /// Whether a list-based field (RFC 9110 §5.6.1) has the member on any line; ignores case.
    package func contains(_ name: FieldName, token: FieldName) -> Bool {
        var start = 0
        while let index = firstIndex(of: name, from: start) {
            if withValue(at: index, { $0.hasListMember(token) }) { return true }
            start = index + 1
        }
        return false
    }

    package func contains(_ name: FieldName, token: String) -> Bool { contains(name, token: FieldName(token)) }
}

extension UnsafeRawBufferPointer {
    /// Ignores case, and the white space around members.
    fileprivate func hasListMember(_ token: FieldName) -> Bool {
        var start = 0
        while start <= count {
            let end = self[start...].firstIndex(of: UInt8(ascii: ",")) ?? count
            var member = self[start..<end]
            while let first = member.first, first == 0x20 || first == 0x09 { member.removeFirst() }
            while let last = member.last, last == 0x20 || last == 0x09 { member.removeLast() }
            if token.matches(UnsafeRawBufferPointer(rebasing: member)) { return true }
            start = end + 1
        }
        return false
    }
}

// MARK: - Editing

extension FieldSection {
    package mutating func append(_ name: String, _ value: String) { append(name, bytes: value.utf8) }

    package mutating func append(_ name: String, bytes value: some Collection<UInt8>) {
        let (nameRun, valueRun) = (store(name.utf8), store(value))
        let hash = FieldName.hash(name.utf8)
        add(Entry(line: Run(0..<0), name: nameRun, value: valueRun, hash: hash))
        revision &+= 1
    }

    /// Replaces all fields of the name by one, or appends it.
    package mutating func set(_ name: String, _ value: String) {
        let prepared = FieldName(name)
        guard let index = firstIndex(of: prepared) else { return append(name, value) }
        setValue(value, at: index)
        var start = index + 1
        while let further = firstIndex(of: prepared, from: start) {
            entries.remove(at: further)
            start = further
        }
    }

    package mutating func setValue(_ value: String, at position: Int) { setValue(value.utf8, at: position) }

    package mutating func setValue(_ value: some Collection<UInt8>, at position: Int) {
        entries[position].value = store(value)
        entries[position].line.count = 0
        revision &+= 1
    }

    /// Overwrites values with asterisks, also in the received bytes: they are neither recorded nor forwarded.
    package mutating func obliterate(_ name: FieldName) {
        var start = 0
        while let index = firstIndex(of: name, from: start) {
            let run = entries[index].value
            buffer.setBytes(repeatElement(UInt8(ascii: "*"), count: Int(run.count)), at: Int(run.start))
            start = index + 1
        }
    }

    package mutating func setName(_ name: String, at position: Int) {
        entries[position].name = store(name.utf8)
        entries[position].hash = FieldName.hash(name.utf8)
        present |= FieldSection.bit(entries[position].hash)
        entries[position].line.count = 0
        revision &+= 1
    }

    package mutating func remove(at position: Int) {
        entries.remove(at: position)
        revision &+= 1
    }

    @discardableResult
    package mutating func removeAll(_ name: FieldName) -> Int {
        var removed = 0
        var start = 0
        while let index = firstIndex(of: name, from: start) {
            remove(at: index)
            removed += 1
            start = index
        }
        return removed
    }

    mutating func store(_ bytes: some Collection<UInt8>) -> Run {
        let start = buffer.writerIndex
        buffer.writeBytes(bytes)
        return Run(start..<buffer.writerIndex)
    }

    /// Writes the lines without the empty line at the end; unchanged neighbours are copied together.
    package func write(into output: inout ByteBuffer) {
        var pending = 0..<0
        func flush() {
            guard !pending.isEmpty else { return }
            buffer.withUnsafeReadableBytes { _ = output.writeBytes(UnsafeRawBufferPointer(rebasing: $0[pending])) }
            pending = 0..<0
        }
        for entry in entries {
            if entry.line.count > 0 {
                let line = entry.line.range
                if pending.upperBound == line.lowerBound, !pending.isEmpty {
                    pending = pending.lowerBound..<line.upperBound
                } else {
                    flush()
                    pending = line
                }
            } else {
                flush()
                buffer.withUnsafeReadableBytes { bytes in
                    _ = output.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[entry.name.range]))
                    output.writeStaticString(": ")
                    _ = output.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[entry.value.range]))
                    output.writeStaticString("\r\n")
                }
            }
        }
        flush()
    }
}

extension FieldSection: CustomStringConvertible {
    package var description: String { map { "\($0.name): \($0.value)" }.joined(separator: "\n") }
}

extension FieldSection {
    /// All values of a list-based field (RFC 9110 §5.2).
    package func combinedValue(of name: FieldName) -> String? {
        let values = values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
