import Foundation
package import Store
import Text

/// Asks the running Sluices for values to complete, within a short time.
package enum RunningSluices {
    package typealias Name = (word: String, meaning: String)

    /// Process numbers; the meaning is the address, or empty if that Sluice did not answer in time.
    package static func processes(
        in directories: [String] = ControlPaths.directories,
        within limit: Duration
    ) -> [Name] {
        answers(of: nil, directories, ControlRequest(command: .status), limit).map { process, reply in
            (String(process), VisibleText.of(reply?.status?.address ?? ""))
        }
    }

    /// What each running Sluice with a store has sent, and has yet to send.
    package static func stores(
        in directories: [String] = ControlPaths.directories,
        within limit: Duration
    ) -> [(process: Int32, store: Shipper.Status)] {
        answers(of: nil, directories, ControlRequest(command: .status), limit).compactMap { process, reply in
            reply?.status?.store.map { (process, $0) }
        }
    }

    package static func holds(
        of choice: String?,
        in directories: [String] = ControlPaths.directories,
        within limit: Duration
    ) -> [Name] {
        answers(of: choice, directories, ControlRequest(command: .holdList), limit).flatMap { _, reply in
            (reply?.holds ?? []).map { hold in
                (hold.id, VisibleText.of("\(hold.side) \(hold.method) \(hold.url)"))
            }
        }
    }

    /// `limit` is the time for all Sluices together.
    private static func answers(
        of choice: String?,
        _ directories: [String],
        _ request: ControlRequest,
        _ limit: Duration
    ) -> [(process: Int32, reply: ControlReply?)] {
        let deadline = ContinuousClock.now + limit
        var sockets = ControlPaths.sockets(in: directories)
        if let choice {
            if let process = Int32(choice) {
                sockets.removeAll { $0.process != process }
            } else {
                sockets = [(0, choice)]
            }
        }
        return sockets.compactMap { process, path in
            do {
                return (process, try ControlClient.ask(path, request, by: deadline))
            } catch ControlSocket.SocketError.timeout {
                return (process, nil)
            } catch {
                return nil
            }
        }
    }
}
