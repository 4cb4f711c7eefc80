import Foundation
import Text

/// The running Sluices for completions, within a short time.
package enum RunningSluices {
    package typealias Name = (word: String, meaning: String)

    /// With their addresses, if they answer in time.
    package static func processes(
        in directories: [String] = ControlPaths.directories,
        within limit: Duration
    ) -> [Name] {
        answers(of: nil, directories, ControlRequest(command: .status), limit).map { process, reply in
            (String(process), VisibleText.of(reply?.status?.address ?? ""))
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

    /// The limit is for all of them together.
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
