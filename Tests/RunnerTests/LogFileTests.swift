import Foundation
import Support
import Synchronization
import Testing

@testable import Jobs
@testable import Runner

@Suite struct LogFileTests {
    @Test("A log begins empty, has lines that steer no terminal, and only its user can read it")
    func lines() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        let path = scratch.path("log")
        let old = try scratch.write("old", "before\n")
        for file in [path, old] {
            let log = try LogFile(path: file) { _ in }
            log.append("one\n")
            log.append("two\u{1B}[31m\n")
            #expect(log.isWhole)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "one\ntwo^[[31m\n")
        }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode == 0o600)
        #expect(throws: StartError.self) { try LogFile(path: scratch.path("none/log")) { _ in } }
    }

    #if os(Linux)
    @Test("A log that cannot be written is reported once")
    func full() throws {
        let reports = Mutex<[String]>([])
        let log = try LogFile(path: "/dev/full") { text in reports.withLock { $0.append(text) } }
        log.append("one\n")
        log.append("two\n")
        #expect(!log.isWhole)
        let texts = reports.withLock { $0 }
        #expect(texts.count == 1 && texts[0].hasPrefix("sluice: the log /dev/full is not whole: "), "\(texts)")
    }
    #endif
}
