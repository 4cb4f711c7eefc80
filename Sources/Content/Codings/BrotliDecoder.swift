import CBrotli

final class BrotliDecoder: CodingDecoder {
    private let state: OpaquePointer?

    init() { state = BrotliDecoderCreateInstance(nil, nil, nil) }

    deinit {
        if let state { BrotliDecoderDestroyInstance(state) }
    }

    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep {
        guard let state else { return DecoderStep(consumed: 0, produced: 0, status: .failed("brotli cannot start")) }
        let input = input.prefix(longestStep)
        var inputLeft = input.count
        var outputLeft = output.count
        var nextInput = UnsafeRawBufferPointer(rebasing: input).assumingMemoryBound(to: UInt8.self).baseAddress
        var nextOutput = output.assumingMemoryBound(to: UInt8.self).baseAddress
        let result = BrotliDecoderDecompressStream(state, &inputLeft, &nextInput, &outputLeft, &nextOutput, nil)
        let status: DecoderStep.Status =
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS: .ended
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: .needsInput
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: .outputFull
            default: .failed(BrotliDecoder.reason(state))
            }
        return DecoderStep(consumed: input.count - inputLeft, produced: output.count - outputLeft, status: status)
    }

    private static func reason(_ state: OpaquePointer) -> String {
        let name = BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state)).map { String(cString: $0) } ?? ""
        return "the data is corrupt (\(name))"
    }
}
