import ExchangeCore
import Foundation
import HTTPModel
import Rules
import Support
import Testing
import Tools

@Suite("Profiles of several files")
struct IncludeTests {
    /// A directory with files that goes with the test.
    private final class Folder {
        let path: String

        init(_ files: [String: String]) throws {
            path = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)").path
            for (name, text) in files {
                let file = URL(filePath: path).appending(path: name)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try Data(text.utf8).write(to: file)
            }
        }

        deinit {
            try? FileManager.default.removeItem(atPath: path)
        }

        func load(_ names: String...) throws(ProfileError) -> RuleProfile {
            try RuleProfile.load(paths: names.map { path + "/" + $0 })
        }

        /// What is wrong, without the folder's name.
        func problem(_ name: String) -> String {
            do {
                _ = try load(name)
                return ""
            } catch {
                return error.description.replacing(path + "/", with: "")
            }
        }
    }

    private func rule(_ name: String) -> String { "block: { name: \(name), at: \(name).example }\n" }

    @Test("descriptor files are those of all files, each named from its own folder")
    func protobuf() throws {
        let folder = try Folder([
            "main.yaml": "version: 1\ninclude: [ sub/more.yaml ]\nprotobuf: [ a.desc ]\n",
            "sub/more.yaml": "version: 1\nprotobuf: [ b.desc, /c.desc ]\n",
        ])
        let names = ["\(folder.path)/a.desc", "\(folder.path)/sub/b.desc", "/c.desc"]
        #expect(try folder.load("main.yaml").protobuf.sorted() == names.sorted())
        #expect(try RuleProfile("version: 1", file: "x.yaml").protobuf.isEmpty)
    }

    @Test("Rules of included files come before, each file once, relative paths begin beside the file")
    func diamond() throws {
        let folder = try Folder([
            "top.yaml": "version: 1\nname: top\ninclude: [ left.yaml, sub/right.yaml ]\n" + rule("top"),
            "left.yaml": "version: 1\nname: left\ninclude: sub/base.yaml\n" + rule("left"),
            "sub/right.yaml": "version: 1\ninclude: [ base.yaml, ../sub/./base.yaml ]\n" + rule("right"),
            "sub/base.yaml": "version: 1\nname: base\n" + rule("base"),
        ])
        let profile = try folder.load("top.yaml")
        #expect(profile.tools.flatMap(\.rules).map(\.name) == ["base", "left", "right", "top"])
        #expect(profile.name == "base, left, top")
        #expect(
            profile.sources.map { $0.file.split(separator: "/").last } == [
                "base.yaml", "left.yaml", "right.yaml", "top.yaml",
            ]
        )
        #expect(profile.tools[0].rules[0].place.line == 3)
    }

    @Test("Several files stand one after the other, and numbers of rules go on")
    func several() throws {
        let folder = try Folder([
            "a.yaml": "version: 1\nblock: { at: a.example }\nintercept: { except: x.example }",
            "b.yaml":
                "version: 1\nblock: [ { at: b.example }, { at: c.example } ]\nintercept: { except: y.example }\noff: rewrite\nrewrite: { at: \"*\", rules: [{ remove: header, on: request, name: X }] }",
        ])
        let profile = try folder.load("a.yaml", "b.yaml", "a.yaml")
        #expect(profile.tools[0].rules.map(\.name) == ["rule 1", "rule 2", "rule 3"])
        #expect(!profile.intercept.decrypts(host: "x.example", port: 443))
        #expect(!profile.intercept.decrypts(host: "y.example", port: 443))
        #expect(profile.off == [.rewrite])
        #expect(outcome(profile, "http://c.example/") == "403")
    }

    @Test("A file that includes itself is refused where it does")
    func cycle() throws {
        let folder = try Folder([
            "self.yaml": "version: 1\ninclude:\n  - self.yaml",
            "a.yaml": "version: 1\ninclude: b.yaml", "b.yaml": "version: 1\ninclude: ./c.yaml",
            "c.yaml": "version: 1\ninclude: [ a.yaml ]",
        ])
        #expect(folder.problem("self.yaml").hasPrefix("self.yaml:3:5: self.yaml includes itself"))
        #expect(folder.problem("a.yaml").contains("c.yaml:2:12: "))
        #expect(folder.problem("a.yaml").contains("a.yaml includes itself through"))
    }

    @Test("A file that is not there is missed where it is named, one that is wrong where it is wrong")
    func missing() throws {
        let folder = try Folder([
            "a.yaml": "version: 1\ninclude: [ b.yaml ]", "b.yaml": "version: 1\ninclude:\n  - none.yaml",
            "bad.yaml": "version: 1\ninclude: wrong.yaml", "wrong.yaml": "version: 1\nblok: 1",
            "dir.yaml": "version: 1\ninclude: .", "blank.yaml": "version: 1\ninclude: \"\"",
            "broken.yaml": "include: [",
        ])
        #expect(folder.problem("a.yaml") == "b.yaml:3:5: none.yaml cannot be read: No such file or directory")
        #expect(folder.problem("bad.yaml") == "wrong.yaml:2:1: a profile has no key 'blok' (did you mean 'block'?)")
        #expect(folder.problem("dir.yaml").hasPrefix("dir.yaml:2:10: "))
        #expect(folder.problem("blank.yaml") == "blank.yaml:2:10: include must be the path of a file or directory")
        #expect(folder.problem("broken.yaml").hasPrefix("broken.yaml:"))
        #expect(folder.problem("none.yaml") == "none.yaml:1:1: cannot be read: No such file or directory")
    }

    @Test("A pipe that is included, or a profile where none is waited for, is refused at once")
    func pipes() throws {
        let folder = try Folder(["a.yaml": "version: 1\ninclude: pipe"])
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(folder.problem("a.yaml") == "a.yaml:2:10: pipe cannot be read: it is a pipe, not a file")
        #expect(folder.problem("pipe") == "pipe:1:1: cannot be read: it is a pipe, not a file")
        let paths = [folder.path + "/a.yaml"]
        #expect(throws: ProfileError.self) { try RuleProfile.load(paths: paths, takesPipes: true) }
    }

    @Test("A command's output is a profile where pipes are taken")
    func commandOutput() async throws {
        let folder = try Folder(["rule.yaml": "version: 1\n" + rule("a")])
        let path = folder.path + "/pipe"
        #expect(mkfifo(path, 0o600) == 0)
        // A thread, because a task may have to wait for other tests longer than the reader waits for the pipe.
        Thread.detachNewThread {
            let pipe = try? FileHandle(forWritingTo: URL(filePath: path))
            try? pipe?.write(contentsOf: Data("version: 1\ninclude: rule.yaml\n".utf8))
            try? pipe?.close()
        }
        let profile = try await blocking { try RuleProfile.load(paths: [path], takesPipes: true) }
        #expect(profile.tools.flatMap(\.rules).map(\.name) == ["a"])
    }

    @Test("Nobody nests deeper than sixteen, or has more than 256 files")
    func depth() throws {
        var files: [String: String] = [:]
        for level in 0..<20 { files["\(level).yaml"] = "version: 1\ninclude: \(level + 1).yaml" }
        files["20.yaml"] = "version: 1"
        let names = (0..<300).map { "w\($0).yaml" }
        for name in names { files[name] = "version: 1" }
        files["wide.yaml"] = "version: 1\ninclude: [\(names.joined(separator: ", "))]"
        let folder = try Folder(files)
        #expect(folder.problem("0.yaml").contains("includes are nested too deeply, or there are too many files"))
        #expect(folder.problem("5.yaml").isEmpty)
        #expect(folder.problem("wide.yaml").contains("too many files"))
    }

    @Test("A file whose name is one letter, in this directory", arguments: ["p", "a/", "/", ".", ""])
    func shortNames(name: String) {
        #expect((try? RuleProfile("version: 1\nblock: { at: a.example }", file: name)) != nil)
    }
}
