/// That the address to which a tunnel leads is the host of the request's URL: the client asked for the address, and named
/// the host only inside the tunnel, in TLS or in `Host`.
///
/// That is the client's word until it is verified. Rules go by the name, but what refuses requests looks at the address
/// too, and what hands out secrets, or lets requests pass, needs the name verified.
package struct NameClaim: Sendable, Hashable {
    /// As in a URL.
    package let address: String
    /// Whether the name is more than the client's word: a request goes out only on a connection whose certificate has the
    /// name, or a look-up of the name gave the address.
    package internal(set) var isVerified: Bool
    /// Whether the connection to the server needs the name verified, whatever the stages do.
    let isNeeded: Bool

    package init(address: String, isVerified: Bool, isNeeded: Bool = false) {
        (self.address, self.isVerified, self.isNeeded) = (address, isVerified, isNeeded)
    }
}
