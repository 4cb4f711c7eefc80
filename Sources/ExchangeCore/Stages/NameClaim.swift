/// The client's claim that the address of its tunnel belongs to the host of the request's URL: the client connected to
/// the address, and named the host only inside the tunnel, in TLS or in `Host`.
///
/// The claim may be false until it is verified. Rules match the name; but rules that refuse requests also check the
/// address, and rules that add secrets, or let requests pass, need a verified name.
package struct NameClaim: Sendable, Hashable {
    /// As in a URL.
    package let address: String
    /// Whether the claim is verified: a request is sent only if the server's certificate has the name, or a look-up of
    /// the name gave the address.
    package internal(set) var isVerified: Bool
    /// Whether the connection to the server needs the name verified, whatever the stages do.
    let isNeeded: Bool

    package init(address: String, isVerified: Bool, isNeeded: Bool = false) {
        (self.address, self.isVerified, self.isNeeded) = (address, isVerified, isNeeded)
    }
}
