import Files
import Foundation
import HTTPModel
import Jobs

extension AgentTools {
    /// Exchanges of one export.
    private static let most = 1_000
    /// An export that is longer has to go into a file, in bytes.
    private static let longestText = 4 << 20

    var export: AgentTool {
        let parameters = [
            AgentTool.Parameter(
                name: "format",
                kind: .choice(["curl", "har"]),
                meaning: "cURL commands, or HAR 1.2.",
                isRequired: true
            ), .init(name: "number", kind: .integer(Self.numbers), meaning: "One exchange."),
            .init(
                name: "filter",
                kind: Self.filter.kind,
                meaning: "Or the newest \(Self.most) exchanges that fit a filter."
            ),
            .init(name: "file", kind: .text(200), meaning: "A new file in the folder of --files, instead of text."),
        ]
        return AgentTool(
            name: "export",
            title: "Export exchanges",
            meaning: "Masked exchanges as text, in parts by 'offset'.",
            parameters: parameters + Self.page,
            effect: files == nil ? .reads : .writesNewFiles
        ) { arguments in
            let format = arguments.text("format") == "har" ? ExportFormat.har : .curl
            var numbers = arguments.integer("number").map { [$0] } ?? []
            if numbers.isEmpty {
                guard let text = arguments.text("filter") else { throw ToolError("Give 'number' or 'filter'.") }
                let (found, _, _) = try await session.find(try AgentFilter(text), limit: Self.most)
                numbers = found.map(\.record.id.number).sorted()
                if numbers.isEmpty { throw ToolError("No exchange fits.") }
            }
            if let name = arguments.text("file") {
                let path = try newFile(name)
                let count = try await session.export(numbers, format, to: path)
                return ["file": .string(path), "exchanges": .integer(Int64(count))]
            }
            let folder = try TemporaryDirectory(.agent)
            defer { folder.remove() }
            let path = "\(folder.path)/export"
            _ = try await session.export(numbers, format, to: path)
            guard let size = FileFacts(path: path)?.size, size <= Self.longestText else {
                throw ToolError("The export is longer than \(Self.longestText >> 20) MiB; choose fewer exchanges.")
            }
            let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
            return Self.page(text, arguments)
        }
    }

    /// A file in the folder that is not there yet.
    private func newFile(_ name: String) throws(ToolError) -> String {
        guard let files else { throw ToolError("Files are written only with --files.") }
        let isName = name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") } && name.first != "."
        guard isName, !name.isEmpty else { throw ToolError("'file' is a plain name, such as orders.har.") }
        let path = "\(files)/\(name)"
        guard FileFacts(link: path) == nil else {
            throw ToolError("There is a file \(name) already; choose another name.")
        }
        return path
    }
}
