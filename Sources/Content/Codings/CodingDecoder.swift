struct DecoderStep {
    enum Status {
        case needsInput, outputFull
        /// The rest of the input does not belong to the coding.
        case ended
        case failed(String)
    }

    var consumed: Int
    var produced: Int
    var status: Status
}

/// One content coding's decoder over a C library: owns the library's handle and frees it.
protocol CodingDecoder: AnyObject {
    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep
    /// Makes ready for another member or frame of the same coding; `false` if a coding is but one stream.
    func beginNextMember() -> Bool
    /// Whether another member may begin so, with these four bytes or fewer.
    func isBeginning(_ bytes: [UInt8]) -> Bool
    /// What is to be tried again, from the first byte, where the stream fails before it gave any output.
    func beginFallback() -> Bool
}

extension CodingDecoder {
    /// How much input a library gets at once that, in a call that fails, loses all that it decoded.
    var longestStep: Int { 256 }

    func beginNextMember() -> Bool { false }
    func isBeginning(_ bytes: [UInt8]) -> Bool { false }
    func beginFallback() -> Bool { false }
}
