import ArgumentParser
import Files
import Foundation
import HTTPModel
import Jobs
import ProxyServer
import Rules
import Runner
import Synchronization
import Tools

/// Completions in shells for values that are known only at the prompt.
///
/// A shell runs `sluice ---completion …` while its user waits, so only candidates that are found in time are printed.
struct Completion: Sendable {
    /// zsh and fish show the meaning beside the word.
    typealias Candidate = (word: String, meaning: String)

    /// The time for all candidates; a part of that time is for requests to running Sluices.
    private static let patience = DispatchTimeInterval.milliseconds(200)
    static let patienceWithOthers = Duration.milliseconds(120)
    private static let most = 1_000

    /// The words before the completed one.
    let before: [String]
    /// The typed part of the word to complete, without quotes.
    let word: String
    /// The part that bash has split off: it splits words after each `:` and `=`.
    private let splitOff: String

    init(_ words: [String], _ index: Int, _ shell: CompletionShell?) {
        var (start, end) = (min(max(index, 0), words.count), min(max(index, 0) + 1, words.count))
        var current = words[start..<end].joined()
        if shell == .bash {
            if [":", "="].contains(current) { (start, end, current) = (start + 1, start + 1, "") }
            while start > 2, [":", "="].contains(words[start - 1]) { start -= 2 }
        }
        before = words[..<start].map(Completion.unquoted)
        word = Completion.unquoted(words[start..<end].joined())
        splitOff = String(word.dropLast(Completion.unquoted(current).count))
    }

    /// Replacements in the scripts that ArgumentParser writes.
    private static let changes = [
        // Hides the shell's error if the program is missing; the error would be printed into the command line.
        (#""${COMP_WORDS[0]}" "${@}" "${words[@]}""#, #""${COMP_WORDS[0]}" "${@}" "${words[@]}" 2>/dev/null"#),
        (
            #""${command_name}" "${@}" "${command_line[@]}""#,
            #""${command_name}" "${@}" "${command_line[@]}" 2>/dev/null"#
        ),
        ("command $tokens[1] $argv $tokens", "command $tokens[1] $argv $tokens 2>/dev/null"),
        // With -f, zsh adds no space after a folder.
        ("_describe -V '' non_empty_completions --", "_describe -V '' non_empty_completions -f --"),
        // The cursor within the word is not used, and fish knows it only at a prompt.
        ("(__sluice_tokens -tC)", "0"),
    ]

    /// Completion scripts offer rare options, too.
    static let isScript = CommandLine.arguments.dropFirst().first == scriptOption
    private static let scriptOption = "--generate-completion-script"

    /// Prints a shell's script if the arguments request one.
    static func writeScript(_ arguments: [String]) -> Bool {
        guard arguments.count == 3, arguments[1] == scriptOption,
            let shell = CompletionShell(rawValue: arguments[2])
        else { return false }
        var script = Sluice.completionScript(for: shell)
        for (old, new) in changes { script.replace(old, with: new) }
        StandardStreams.out(script)
        return true
    }

    static func kind(_ candidates: @escaping @Sendable (Completion) -> [Candidate]) -> CompletionKind {
        .custom { words, index, _ in
            let shell = CompletionShell.requesting
            let completion = Completion(words, index, shell)
            // A thread that hangs, for example on a network folder, ends with the process.
            let found = Mutex<[Candidate]>([])
            let end = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let all = candidates(completion)
                found.withLock { $0 = all }
                end.signal()
            }
            _ = end.wait(timeout: .now() + patience)
            return completion.lines(found.withLock { $0 }, for: shell)
        }
    }

    /// The matching candidates, as a shell's script reads them.
    private func lines(_ candidates: [Candidate], for shell: CompletionShell?) -> [String] {
        candidates.filter { $0.word.hasPrefix(word) && $0.word.unicodeScalars.allSatisfy(Completion.isVisible) }
            .prefix(Completion.most).map { candidate in
                switch shell {
                // bash expands the candidates like words of a command.
                case .bash?: Completion.escaped(candidate.word.dropFirst(splitOff.count)) { !Completion.isPlain($0) }
                case .zsh?:
                    Completion.escaped(candidate.word.dropLast(candidate.word.last == "/" ? 1 : 0)) {
                        $0 == ":" || $0 == "\\"
                    }
                        + (candidate.meaning.isEmpty ? "" : ":\(candidate.meaning)")
                case .fish? where !candidate.meaning.isEmpty: "\(candidate.word)\t\(candidate.meaning)"
                default: candidate.word
                }
            }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        ![.control, .format, .lineSeparator, .paragraphSeparator, .surrogate].contains(
            scalar.properties.generalCategory
        )
    }

    /// Whether it has no meaning in bash. By scalars, because a `Character` may be a backtick with an accent.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", ".", "/", "-", "+", ",", "@", "%", ":", "=": true
        default: !scalar.isASCII
        }
    }

    private static func escaped(_ text: Substring, _ needsEscape: (Unicode.Scalar) -> Bool) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if needsEscape(scalar) { result.append("\\") }
            result.append(scalar)
        }
        return String(result)
    }

    private static func unquoted(_ text: String) -> String {
        var result = ""
        var isEscaped = false
        for character in text {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else if isEscaped || character != "\"" && character != "'" {
                result.append(character)
                isEscaped = false
            }
        }
        return result
    }

    /// Folders, and files with one of these extensions, or all without extensions.
    func files(_ extensions: [String] = []) -> [Candidate] {
        let folder = word.lastIndex(of: "/").map { String(word[...$0]) } ?? ""
        let place = folder.isEmpty ? "." : HomeDirectory.expanding(folder)
        let hidesDots = word.dropFirst(folder.count).first != "."
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).filter {
            $0.hasPrefix(word.dropFirst(folder.count)) && !(hidesDots && $0.hasPrefix("."))
        }
        return names.sorted().prefix(Completion.most).compactMap { name in
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(place)/\(name)", isDirectory: &isFolder) else { return nil }
            if isFolder.boolValue { return (folder + name + "/", "") }
            let fits = extensions.isEmpty || extensions.contains { name.lowercased().hasSuffix("." + $0) }
            return fits ? (folder + name, "") : nil
        }
    }

    /// Programs in `PATH`, or files if the word is a path.
    func programs() -> [Candidate] {
        guard !word.isEmpty, !word.contains("/") else { return files() }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let names = path.split(separator: ":").flatMap { folder in
            ((try? FileManager.default.contentsOfDirectory(atPath: String(folder))) ?? []).filter {
                $0.hasPrefix(word) && access("\(folder)/\($0)", X_OK) == 0
            }
        }
        return Set(names).sorted().map { ($0, "") }
    }

    /// Sessions that the user did not name, and files.
    func sessions(_ extensions: [String]) -> [Candidate] {
        let names = StandardPaths.sessionNames
        let last = names.first.map { [("last", "the newest: \($0)")] } ?? []
        return last + names.map { ($0, "") } + files(extensions)
    }

    func holds() -> [Candidate] {
        let control = zip(before, before.dropFirst()).reversed().first { $0.0 == "--control" }?.1
        return RunningSluices.holds(of: control, within: Completion.patienceWithOthers)
    }

    /// A command after `--`, then its files.
    func command() -> [Candidate] { before.last == "--" ? programs() : files() }
}

extension CompletionKind {
    /// Of sessions and archives.
    static let session = Completion.kind { $0.sessions(["sluice", "har", "chlsj", "chlsx", "flow", "zip"]) }
    static let ownSession = Completion.kind { $0.sessions(["sluice"]) }
    static let newSession = CompletionKind.file(extensions: ["sluice"])
    static let profile = CompletionKind.file(extensions: ["yaml", "yml"])
    static let certificates = CompletionKind.file(extensions: ["pem", "crt", "cer"])
    static let filter = Completion.kind { _ in Filter.properties.map { ("is:\($0.name)", $0.summary) } }
    static let tools = Completion.kind { _ in
        ToolRegistry.standard.inOrder.map { ($0.key, $0.summary) } + [("all", "every tool")]
    }
    static let profileKey = Completion.kind {
        ProfileHelp.names(for: $0.word, of: .standard).map { ($0.name, $0.summary) }
    }
    static let hold = Completion.kind { $0.holds() }
    static let holds = Completion.kind { $0.holds() + [("all", "every message that waits")] }
    static let running = Completion.kind { _ in RunningSluices.processes(within: Completion.patienceWithOthers) }
    static let proxyUser = Completion.kind { _ in
        ((try? ProxyUsersFile.read(ProxyUsersFile.standard))?.names ?? []).map { ($0, "") }
    }
    static let command = Completion.kind { $0.command() }
}
