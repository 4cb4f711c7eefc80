import Foundation
import NIOCore

/// Why a place cannot be listened on, where nobody else listens there and it is not for root alone.
package enum ListeningRefusal {
    /// The words, without a full stop; `mode` is what is said of the place where it is no proxy's, such as ` (socks)`.
    package static func words(_ cause: any Error, host: String, place: String, mode: String = "") -> String {
        // A name that is not found is no error of the system.
        guard let error = cause as? IOError else {
            return "\(place)\(mode) cannot be listened on: \(host) is no address of this machine"
        }
        if error.errnoCode == EADDRNOTAVAIL { return "\(host)\(mode) is no address of this machine" }
        return "\(place)\(mode) cannot be listened on: \(String(cString: strerror(error.errnoCode)))"
    }
}
