import Content
import Files
import Foundation
import HTTPModel
import Synchronization

/// A value under `vars` of a profile.
struct Variable: Sendable, Hashable {
    static let key = "vars"

    let text: String
    /// The value with its type.
    private(set) var json: String
    /// Whether it is from the environment, a file or the command line.
    let isSecret: Bool

    fileprivate init(secret text: String) { (self.text, json, isSecret) = (text, JSONWriter.quoted(text), true) }

    fileprivate init(_ text: String, json: String? = nil) {
        (self.text, self.json, isSecret) = (text, json ?? JSONWriter.quoted(text), false)
    }

    /// The variable with a different value, which keeps the type if it can.
    fileprivate func overridden(by text: String) -> Variable {
        var variable = Variable(secret: text)
        if json.first != "\"", let typed = CoreScalar(text)?.json { variable.json = typed }
        return variable
    }

    static let grammar = GrammarKey(key, .names(.text), fallback: "none")
        .example("{ tier: pro, limits: { items: 50, price: 1.50 } }")
        .means("Values for ${NAME} in the texts of rules: anything, { env: NAME }, or { file: PATH } in this folder.")
}

/// Values for variables from outside the profile.
package struct VariableInputs: Sendable, Hashable {
    /// By name; they replace values of the profile.
    package var overrides: [String: String] = [:]
    /// Whether missing files and variables of the environment are no errors, as for rules that were recorded earlier.
    package var areOptional = false

    package init() {}

    private static let current = Mutex(VariableInputs())

    /// `--var` of the command line; set once, before profiles are read.
    package static var ofProcess: VariableInputs {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// For rules that were recorded earlier, perhaps on a different machine.
    package static var forRecordedRules: VariableInputs {
        var inputs = ofProcess
        inputs.areOptional = true
        return inputs
    }

    /// Adds `NAME=VALUE`; `false` if the text is not of this form.
    package mutating func add(_ text: String) -> Bool {
        guard let sign = text.firstIndex(of: "="), ValueSource.isVariableName(String(text[..<sign])) else {
            return false
        }
        overrides[String(text[..<sign])] = String(text[text.index(after: sign)...])
        return true
    }
}

/// Reads the variables of all files of a profile.
struct VariableReader {
    private static let longestFile = 1 << 20
    private static let mostInputs = 100

    let inputs: VariableInputs
    private(set) var variables: [String: Variable] = [:]
    /// What was read, as `key: environment variable API_KEY`.
    private(set) var sources: [String] = []

    init(_ inputs: VariableInputs) {
        self.inputs = inputs
        variables = inputs.overrides.mapValues { Variable(secret: $0) }
    }

    /// At least four bytes, so that masking them does not make texts unreadable.
    var secrets: [String] {
        Set(variables.values.filter(\.isSecret).map(\.text)).filter { $0.utf8.count >= 4 }.sorted()
    }

    /// Reads `vars` of a file; the values replace those of earlier files.
    mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        guard let members = node.mapping else {
            return reader.error("\(Variable.key) must be a mapping of names to values, not \(node.kind)", at: node)
        }
        reader.refusesValues = "a variable cannot have values in it"
        defer { reader.refusesValues = nil }
        for member in members {
            guard let name = member.key.scalar?.string, ValueSource.isVariableName(name) else {
                let form = "letters, digits, '-' and '_', and not a word of values such as 'now'"
                reader.error("the name of a variable has \(form)", at: member.key)
                continue
            }
            let variable = read(name, member.value, &reader)
            variables[name] = inputs.overrides[name].map { variable.overridden(by: $0) } ?? variable
        }
    }

    private mutating func read(_ name: String, _ node: Node, _ reader: inout ProfileReader) -> Variable {
        guard let member = node.mapping?.first, node.mapping?.count == 1, let kind = member.key.scalar?.string,
            kind == "env" || kind == "file"
        else {
            guard let json = JSONTemplate(node, "'\(name)'", &reader)?.constant else { return Variable("") }
            return Variable(node.scalar == nil ? json : reader.literal(node, name) ?? "", json: json)
        }
        guard inputs.overrides[name] == nil, let text = reader.text(member.value, kind) else { return Variable("") }
        do throws(ValueError) {
            if sources.count == VariableReader.mostInputs {
                throw ValueError("a profile reads at most \(VariableReader.mostInputs) variables from outside")
            }
            sources.append("\(name): \(kind == "env" ? "environment variable" : "file") \(text.clipped())")
            return Variable(secret: try kind == "env" ? environment(text) : content(of: text, in: reader.file))
        } catch {
            if !inputs.areOptional { reader.error(error.description, at: member.value) }
            return Variable("${\(name)}")
        }
    }

    private func environment(_ name: String) throws(ValueError) -> String {
        if let value = ProcessInfo.processInfo.environment[name] { return value }
        throw ValueError("the environment has no variable '\(name.clipped(to: 60))'; set it, or use --var")
    }

    /// The text of a file in the folder of a profile, or below it.
    private func content(of path: String, in profile: String) throws(ValueError) -> String {
        let (folder, short) = (ProfileText.directory(of: profile), path.clipped(to: 80))
        let root = ProfileText.canonical(folder)
        let file = ProfileText.canonical(ProfileText.absolute(path, in: folder))
        guard !path.utf8.contains(0), file.hasPrefix(root.hasSuffix("/") ? root : "\(root)/") else {
            throw ValueError("'\(short)' is not in the profile's folder; variables can read only files there")
        }
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try InputFile.contents(of: file, atMost: VariableReader.longestFile + 1)
        } catch {
            throw ValueError("'\(short)' \(error.reason)")
        }
        if bytes.count > VariableReader.longestFile {
            throw ValueError("'\(short)' is larger than 1 MiB, the limit for variables")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ValueError("'\(short)' is not UTF-8 text")
        }
        return text
    }
}
