/// A terminal that a program draws on and reads from.
///
/// A device belongs to one thread: the one that waits for ``inputDescriptor``.
package protocol TerminalDevice: AnyObject {
    var capabilities: TerminalCapabilities { get }
    /// Its columns and rows, as they are now.
    var size: Size { get }
    /// The descriptor to wait for before ``read()``.
    var inputDescriptor: Int32 { get }

    /// The bytes that came: none if there is nothing now, `nil` at the end of input. It does not wait.
    func read() -> [UInt8]?

    /// Writes all the bytes, and waits where the terminal is slow.
    func write(_ bytes: [UInt8])

    /// Takes the screen: raw input, the alternate screen, mouse and paste reports. Doing it twice does nothing.
    func enter() throws

    /// Gives the screen back as it was. Doing it twice does nothing.
    func leave()

    /// Gives the screen back, stops the program as `^Z` does, and takes the screen again when it goes on.
    func suspend()
}
