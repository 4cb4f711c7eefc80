import Testing

/// The built `sluice` between real clients and real servers.
///
/// One story at a time: each has a proxy of its own, and two of them would only take the machine from each other.
@Suite(.serialized)
enum EndToEnd {}
