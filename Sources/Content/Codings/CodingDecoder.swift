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
    /// Prepares for another member or frame; `false` if the coding has only one stream.
    func beginNextMember() -> Bool
    /// Whether another member may begin with these bytes (at most four).
    func isBeginning(_ bytes: [UInt8]) -> Bool
    /// Prepares to read a stream again, in another format, if it failed without output; `false` if there is none.
    func beginFallback() -> Bool
}

extension CodingDecoder {
    /// How many bytes are passed at once to libraries that lose the output of a call if the call fails.
    var longestStep: Int { 256 }

    func beginNextMember() -> Bool { false }
    func isBeginning(_ bytes: [UInt8]) -> Bool { false }
    func beginFallback() -> Bool { false }
}
