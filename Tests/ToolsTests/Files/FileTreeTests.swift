import Foundation
import Synchronization
import Testing
import Tools

@testable import Rules
@testable import Tools

@Suite("Looking files up in a tree")
struct FileTreeTests {
    private static func read(_ tree: FileTree, _ names: [String]) -> String? {
        guard let found = try? tree.open(names), found.status.kind == .file,
            let bytes = try? found.file.read(0..<found.status.size)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Whatever is swapped on the disk meanwhile, nothing outside is read", .timeLimit(.minutes(5)))
    func swaps() async throws {
        let folder = TestFolder(["root/sub/a": "inside", "root/kept/a": "inside", "out/a": "SECRET"])
        let root = "\(folder.path)/root"
        let end = End()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // 'sub' is a directory, nothing, and a link that leads out, over and over.
                while !end.hasCome.load(ordering: .relaxed) {
                    rename("\(root)/sub", "\(root)/aside")
                    symlink("../out", "\(root)/sub")
                    unlink("\(root)/sub")
                    rename("\(root)/aside", "\(root)/sub")
                    await Task.yield()
                }
            }
            group.addTask {
                let tree = FileTree(root, isCaseSensitive: true)
                var found = 0
                for round in 0..<20_000 {
                    let text = FileTreeTests.read(tree, ["sub", "a"])
                    #expect(text == nil || text == "inside", "round \(round)")
                    if text != nil { found += 1 }
                    if round.isMultiple(of: 100) { await Task.yield() }
                }
                #expect(found > 0)
                #expect(FileTreeTests.read(tree, ["kept", "a"]) == "inside")
                end.hasCome.store(true, ordering: .relaxed)
            }
        }
    }

    private final class End: Sendable {
        let hasCome = Atomic(false)
    }

    @Test("Two names of one file are not taken for a disk that ignores case")
    func hardLinks() throws {
        let folder = TestFolder(["root/abc": "x"])
        let root = "\(folder.path)/root"
        try FileManager.default.linkItem(atPath: "\(root)/abc", toPath: "\(root)/ABC")
        let tree = FileTree(root, isCaseSensitive: true)
        #expect(FileTreeTests.read(tree, ["abc"]) == "x")
        #expect(FileTreeTests.read(tree, ["ABC"]) == "x")
        #expect(FileTreeTests.read(tree, ["Abc"]) == nil)
    }

    @Test("Many links on a path are followed, those in circles are not")
    func links() throws {
        let folder = TestFolder(["root/a": "x"])
        for number in 0..<40 { try folder.link("root/l\(number)", to: number == 0 ? "a" : "l\(number - 1)") }
        let tree = FileTree("\(folder.path)/root", isCaseSensitive: true)
        #expect(FileTreeTests.read(tree, ["l0"]) == "x")
        #expect(FileTreeTests.read(tree, ["l30"]) == "x")
        #expect(FileTreeTests.read(tree, ["l39"]) == nil)
    }

    @Test("No descriptor is left open, found or not")
    func descriptors() throws {
        let folder = TestFolder(["root/sub/a": "x"])
        try folder.link("root/out", to: "../..")
        let tree = FileTree("\(folder.path)/root", isCaseSensitive: true)
        func highest() -> CInt {
            let descriptor = open("/dev/null", O_RDONLY)
            close(descriptor)
            return descriptor
        }
        for names in [["sub", "a"], ["sub"], [], ["none"], ["out", "a"], ["sub", "a", "b"], ["sub", "none", "a"]] {
            for _ in 0..<2_000 { _ = FileTreeTests.read(tree, names) }
        }
        // Other tests run beside this one, but none of them opens thousands of files.
        #expect(highest() < 1_000)
    }
}
