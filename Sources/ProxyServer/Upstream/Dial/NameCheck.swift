import ExchangeCore
import HTTPModel
import NIOCore

/// Looks up the name that a client has for the address of its tunnel, and says whether the address is one of that name.
final class NameCheck {
    private let address: String
    private let search: AddressSearch
    private var limit: Scheduled<Void>?
    private var report: ((Bool) -> Void)?

    /// Begins; `report` is called once, but not after `cancel`.
    init(
        _ name: String,
        _ address: String,
        for client: ClientKey,
        loop: LoopContext,
        then report: @escaping (Bool) -> Void
    ) {
        self.address = address
        self.report = report
        search = AddressSearch(name, for: client, loop: loop)
        let amount = loop.configuration.timeouts.connect
        limit = loop.eventLoop.assumeIsolated().scheduleTask(in: amount) { [self] in end(false) }
        search.start { [self] outcome in
            guard case .success(let found) = outcome else { return end(false) }
            let isFound = found.addresses.contains {
                $0.ipAddress.flatMap { HostAddress.canonical($0[...]) } == address
            }
            if isFound || found.isLast { end(isFound) }
        }
    }

    func cancel() {
        report = nil
        limit?.cancel()
        search.cancel()
    }

    private func end(_ isFound: Bool) {
        let report = report
        cancel()
        report?(isFound)
    }
}
