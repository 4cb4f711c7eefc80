/// The result of one call of a decoder.
struct DecoderStep {
    enum Status {
        /// All input was read and all output written.
        case needsInput
        /// The output is full; call again with the rest of the input.
        case outputFull
        /// The coding has come to its end; what is left of the input does not belong to it.
        case ended
        /// The input is invalid.
        case failed(String)
    }

    var consumed: Int
    var produced: Int
    var status: Status
}

/// One content coding's decoder over a C library: owns the library's handle and frees it.
protocol CodingDecoder: AnyObject {
    /// Decodes at most as much as the output can hold.
    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep
    /// Makes ready for another member or frame of the same coding; `false` if a coding is but one stream.
    func beginNextMember() -> Bool
    /// Whether another member may begin so, with these four bytes or fewer.
    func isBeginning(_ bytes: [UInt8]) -> Bool
    /// What is to be tried again, from the first byte, where the stream fails before it gave any output.
    func beginFallback() -> Bool
}

extension CodingDecoder {
    /// How much input to give to a library that, where it fails, keeps back all that it decoded in the same call. So
    /// little is lost with it, and what is before a fault is shown.
    var longestStep: Int { 256 }

    func beginNextMember() -> Bool { false }
    func isBeginning(_ bytes: [UInt8]) -> Bool { false }
    func beginFallback() -> Bool { false }
}
