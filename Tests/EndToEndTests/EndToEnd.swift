import Testing

/// The built `sluice` between real clients and real servers.
///
/// One story at a time of either kind: each has a proxy of its own, and more of them would only take the machine from
/// each other.
@Suite(.serialized)
enum EndToEnd {}

/// What a user does with the built `sluice` before, beside and after traffic: the console, sessions and what is made
/// of them. These run beside ``EndToEnd``, as they mostly wait for a screen or a program.
@Suite(.serialized)
enum UserStories {}
