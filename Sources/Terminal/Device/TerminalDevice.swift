/// A terminal to draw on and read from. A device belongs to one thread: the one that waits for ``inputDescriptor``.
package protocol TerminalDevice: AnyObject {
    var capabilities: TerminalCapabilities { get }
    var size: Size { get }
    /// The descriptor to wait for before ``read()``.
    var inputDescriptor: Int32 { get }

    /// The available bytes, without waiting; `nil` at the end of input.
    func read() -> [UInt8]?

    /// Writes all the bytes, waiting if the terminal is slow.
    func write(_ bytes: [UInt8])

    /// Takes the screen: raw input, the alternate screen, mouse and paste reports. A second call does nothing.
    func enter() throws

    /// Whether it reports the mouse; without, the terminal selects text with it. It is kept over ``leave()``.
    var reportsMouse: Bool { get set }

    /// Gives the screen back as it was. A second call does nothing.
    func leave()

    /// Gives the screen back, stops the program as `^Z` does, and takes the screen again when the program goes on.
    func suspend()
}
