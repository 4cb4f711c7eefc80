import Foundation
import NIOCore

/// Why an address cannot be listened on, other than being in use or reserved for root.
package enum ListeningRefusal {
    /// Without a full stop; `mode` is added to the address, such as ` (socks)`.
    package static func words(_ cause: any Error, host: String, place: String, mode: String = "") -> String {
        // A failed name lookup is not a system error.
        guard let error = cause as? IOError else {
            return "\(place)\(mode) cannot be listened on: \(host) is not an address of this machine"
        }
        if error.errnoCode == EADDRNOTAVAIL { return "\(host)\(mode) is not an address of this machine" }
        return "\(place)\(mode) cannot be listened on: \(String(cString: strerror(error.errnoCode)))"
    }
}
