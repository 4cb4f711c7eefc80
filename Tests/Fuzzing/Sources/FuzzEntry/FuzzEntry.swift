import Foundation

/// Runs a probe on what libFuzzer made up, and stops with the reason where it fails.
///
/// - Returns: what libFuzzer wants to hear.
public func runProbe(_ start: UnsafePointer<UInt8>?, _ count: Int, _ probe: ([UInt8]) throws -> Void) -> CInt {
    do {
        try probe(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        fatalError("\(error)")
    }
    return 0
}

/// Fills the first folder among a fuzzer's arguments with seeds, where it is empty.
///
/// - Returns: what libFuzzer wants to hear.
public func writeSeeds(
    _ count: UnsafeMutablePointer<CInt>?,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?,
    _ seeds: [[UInt8]]
) -> CInt {
    guard let count = count?.pointee, let arguments = arguments?.pointee else { return 0 }
    let folders = (1..<max(Int(count), 1)).compactMap { arguments[$0].map { String(cString: $0) } }
        .map { URL(filePath: $0) }.filter { (try? $0.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true }
    guard let folder = folders.first, let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path),
        files.isEmpty
    else { return 0 }
    for (index, seed) in seeds.enumerated() {
        try? Data(seed).write(to: folder.appending(path: "seed-\(index)"))
    }
    return 0
}
