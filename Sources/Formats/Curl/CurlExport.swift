package import Content
package import Description
package import HTTPModel
import NIOCore

/// Exports requests as cURL commands that send them again: one command line, a script for `sh`, or commands separated
/// by NUL for `xargs -0`. Leaves out exchanges that are not requests; a script has a comment for each.
package struct CurlExport: ScriptExport {
    package enum Form: Sendable {
        /// A script for `sh`; for one exchange only the command.
        case script
        /// A script for `sh` that will be beside its body files, and begins by changing to its own directory.
        case scriptFile
        case nulSeparated
    }

    private let source: any ExchangeSource
    private let form: Form
    private let files: (any BodyFiles)?
    private let sink: ExportSink
    /// The first command, both alone and for a script, until it is known whether there are more.
    private var first: (bare: [UInt8], inScript: [UInt8])?
    private var hasHeader = false
    package private(set) var skipped: [(id: ExchangeID, reason: String)] = []

    package init(
        source: any ExchangeSource,
        form: Form = .script,
        files: (any BodyFiles)? = nil,
        sink: @escaping ExportSink
    ) {
        self.source = source
        self.form = form
        self.files = files
        self.sink = sink
    }

    package mutating func add(_ exchange: RecordedExchange) throws {
        let id = exchange.record.id
        let command: CurlCommand
        do {
            command = try CurlCommand(exchange, source: source, files: files)
        } catch let refusal as CurlError {
            skipped.append((id, refusal.description))
            if form != .nulSeparated {
                try write(Array(ShellWord.comment("\(id) left out: \(refusal.description)").utf8))
            }
            return
        }
        if form == .nulSeparated { return try sink(ByteBuffer(bytes: command.bytes + [0])) }
        let title = ShellWord.comment(exchange.title) + "number=\(id)\n"
        let remarks = command.remarks.flatMap { Array(ShellWord.comment($0).utf8) }
        let lines = remarks + command.bytes
        try write(title.utf8 + lines + Array("\nworst $?\n".utf8), bare: lines + [0x0A])
    }

    package var isForShell: Bool { true }

    package mutating func finish() throws {
        try files?.finish()
        if let first { try send(first.bare) }
        if hasHeader { try send(Array("\nexit $code\n".utf8)) }
        first = nil
    }

    private mutating func write(_ lines: [UInt8], bare: [UInt8]? = nil) throws {
        if form == .script, !hasHeader, first == nil, let bare {
            first = (bare, lines)
            return
        }
        if !hasHeader {
            hasHeader = true
            try send(CurlExport.header + CurlExport.functions)
            if let first { try send([0x0A] + first.inScript) }
            first = nil
        }
        try send([0x0A] + lines)
    }

    private func send(_ bytes: [UInt8]) throws { try sink(ByteBuffer(bytes: bytes)) }

    /// The beginning of a script; paths in the script are relative to its own directory.
    static let header = Array(
        """
        #!/bin/sh
        # Requests recorded by Sluice.
        set -u
        cd -- "$(dirname -- "$0")" || exit 1

        """.utf8
    )

    /// Shell functions of a script. `curl` calls the program, and prints the status instead of the body.
    private static let functions = Array(
        """
        # Each request prints its number, method, status and URL; SAVE=DIRECTORY keeps the bodies there.
        # The exit code is 0, or that of the worst answer: 4 for a status from 400 up, 5 from 500 up, 9 for none.
        program=$(command -v curl) || exit 127
        code=0
        worst() { [ "$1" -le "$code" ] || code=$1; }
        curl() {
        "$program" -sS -o "${SAVE:-/dev/null}${SAVE:+/$number}" -w '%{http_code} %{method} %{url_effective}\\n' "$@" | {
        read -r answer line
        echo "$number ${line%% *} $answer ${line#* }"
        case $answer in 4??) return 4 ;; 5??) return 5 ;; [123]??) return 0 ;; *) return 9 ;; esac
        }
        }

        """.utf8
    )
}
