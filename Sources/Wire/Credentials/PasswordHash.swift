import COpenSSL
import Text

/// A password's hash by scrypt (RFC 7914), with its costs and salt in the PHC string format, with unpadded base64:
/// `$scrypt$ln=14,r=8,p=1$SALT$KEY`.
package struct PasswordHash: Sendable, Hashable, CustomStringConvertible {
    package struct ReadingError: Error, CustomStringConvertible { package let description: String }

    package struct HashingError: Error, CustomStringConvertible {
        package let description = "there is not enough memory for scrypt"
    }

    /// By default about 16 MiB and 30 ms for each attempt; a correct password is remembered.
    private struct Costs: Hashable {
        /// The logarithm of N to the base 2.
        var logarithm = 14
        var blockSize = 8
        var parallelism = 1
    }

    private let costs: Costs
    private let salt: [UInt8]
    private let key: [UInt8]

    /// The most memory for a hash from a file, in bytes.
    private static let memoryLimit = 256 << 20
    private static let (saltLengths, keyLengths) = (8...64, 16...64)

    /// Hashes a password with a new salt; throws if there is not enough memory.
    package init(of password: some Collection<UInt8>, within memory: Int? = nil) throws(HashingError) {
        let salt = randomBytes(16)
        guard let key = Self.derive(password, salt, Costs(), length: 32, within: memory) else { throw HashingError() }
        costs = Costs()
        self.salt = salt
        self.key = key
    }

    /// Reads the text of a hash, with bounded costs, so that no file can stall Sluice.
    package init(_ text: Substring) throws(ReadingError) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt" else {
            throw ReadingError(description: "it is not of the form $scrypt$ln=14,r=8,p=1$SALT$KEY")
        }
        var costs: [Substring: Int] = [:]
        for part in parts[2].split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1)
            if pair.count == 2, let value = Int(pair[1]) { costs[pair[0]] = value }
        }
        guard let logCost = costs["ln"], let blockSize = costs["r"], let parallelism = costs["p"],
            (10...20).contains(logCost), (1...32).contains(blockSize), (1...16).contains(parallelism),
            128 * blockSize << logCost <= Self.memoryLimit
        else {
            throw ReadingError(
                description: "its costs must be ln from 10 to 20, r from 1 to 32 and p from 1 to 16, "
                    + "within 256 MiB of memory"
            )
        }
        guard let salt = Base64Text.decode(strict: parts[3].utf8), Self.saltLengths.contains(salt.count) else {
            throw ReadingError(description: "its salt is not 8 to 64 bytes in base64")
        }
        guard let key = Base64Text.decode(strict: parts[4].utf8), Self.keyLengths.contains(key.count) else {
            throw ReadingError(description: "its key is not 16 to 64 bytes in base64")
        }
        self.costs = Costs(logarithm: logCost, blockSize: blockSize, parallelism: parallelism)
        self.salt = salt
        self.key = key
    }

    package var description: String {
        let texts = [salt, key].map { bytes in String(base64(bytes).prefix { $0 != "=" }) }
        return "$scrypt$ln=\(costs.logarithm),r=\(costs.blockSize),p=\(costs.parallelism)$\(texts[0])$\(texts[1])"
    }

    /// Whether this is the password; takes tens of milliseconds, and the same time for every password.
    package func matches(_ password: some Collection<UInt8>) -> Bool {
        guard let derived = Self.derive(password, salt, costs, length: key.count), !key.isEmpty else { return false }
        return Self.isEqual(derived, key)
    }

    /// Compares in a time that does not reveal where two values of the same length differ.
    package static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    private static func derive(
        _ password: some Collection<UInt8>,
        _ salt: [UInt8],
        _ costs: Costs,
        length: Int,
        within memory: Int? = nil
    ) -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: length)
        let isDerived = Array(password).withUnsafeBytes { password in
            EVP_PBE_scrypt(
                password.baseAddress?.assumingMemoryBound(to: CChar.self),
                password.count,
                salt,
                salt.count,
                UInt64(1) << UInt64(costs.logarithm),
                UInt64(costs.blockSize),
                UInt64(costs.parallelism),
                UInt64(memory ?? memoryLimit + (32 << 20)),
                &key,
                length
            )
        }
        return isDerived == 1 ? key : nil
    }
}
