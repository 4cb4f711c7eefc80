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

    /// Enters the full screen: raw input, the alternate screen, mouse and paste reports. A second call does nothing.
    func enter() throws

    /// Whether the terminal reports the mouse; if not, the mouse selects text. ``leave()`` does not change the setting.
    var reportsMouse: Bool { get set }

    /// Restores the previous screen. A second call does nothing.
    func leave()

    /// Restores the previous screen, stops the program like `^Z`, and enters the screen again on continuation.
    func suspend()
}
