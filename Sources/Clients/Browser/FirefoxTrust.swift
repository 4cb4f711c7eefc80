import Foundation
import Jobs

/// Adds an authority to the certificate database of a Firefox profile, with the NSS library of that Firefox.
enum FirefoxTrust {
    /// NSS can be initialised only once at a time.
    private static let lock = NSLock()

    /// Throws ``StartError`` if the library is not found or fails.
    static func add(_ certificate: Data, toProfile profile: String, of browser: InstalledBrowser) throws(StartError) {
        lock.lock()
        defer { lock.unlock() }
        guard let isAdded = NSSLibrary.add(Array(certificate), toProfile: profile, near: browser.resolved) else {
            throw StartError(
                "Sluice cannot load the NSS library of \(browser.executable), which makes the browser trust the authority.",
                hint: "Pass the path of Firefox' own executable with --browser, or use Chromium."
            )
        }
        guard isAdded else {
            throw StartError(
                "The certificate database of a profile for \(browser.executable) could not be made.",
                hint: "Use Chromium, or: sluice ca export --format trust-help"
            )
        }
    }
}

private enum NSSLibrary {
    private typealias Initialize =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, UInt32
        ) -> Int32
    private typealias NoArguments = @convention(c) () -> Int32
    private typealias Getter = @convention(c) () -> OpaquePointer?
    private typealias Asking = @convention(c) (OpaquePointer?) -> Int32
    private typealias Releasing = @convention(c) (OpaquePointer?) -> Void
    private typealias InitializePin =
        @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int32
    private typealias NewCertificate =
        @convention(c) (OpaquePointer?, UnsafeMutableRawPointer, UnsafePointer<CChar>?, Int32, Int32) -> OpaquePointer?
    private typealias ImportCertificate =
        @convention(c) (OpaquePointer?, OpaquePointer?, UInt, UnsafePointer<CChar>?, Int32) -> Int32
    private typealias ChangeTrust = @convention(c) (OpaquePointer?, OpaquePointer?, UnsafeMutableRawPointer) -> Int32

    #if canImport(Darwin)
    private static let suffix = "dylib"
    #else
    private static let suffix = "so"
    #endif

    /// Where NSS is if the browser's executable is only a script.
    private static let places = [
        "/usr/lib/firefox", "/usr/lib/firefox-esr", "/usr/lib64/firefox", "/opt/firefox",
        "/Applications/Firefox.app/Contents/MacOS",
    ]

    private static func open(near program: String) -> UnsafeMutableRawPointer? {
        let own = (program as NSString).deletingLastPathComponent
        let directory = ([own] + places).first { access("\($0)/libnss3.\(suffix)", R_OK) == 0 }
        guard let directory else { return dlopen("libnss3.\(suffix)", RTLD_NOW) }
        // The libraries that NSS needs are beside it.
        for name in ["nspr4", "plc4", "plds4", "nssutil3", "mozsqlite3"] {
            let path = "\(directory)/lib\(name).\(suffix)"
            if access(path, R_OK) == 0 { dlopen(path, RTLD_NOW | RTLD_GLOBAL) }
        }
        return dlopen("\(directory)/libnss3.\(suffix)", RTLD_NOW)
    }

    /// Returns whether the database has the certificate now; `nil` if the library cannot be loaded.
    static func add(_ der: [UInt8], toProfile profile: String, near program: String) -> Bool? {
        guard let handle = open(near: program) else { return nil }
        func function<Function>(_ name: String, _: Function.Type) -> Function? {
            dlsym(handle, name).map { unsafeBitCast($0, to: Function.self) }
        }
        guard let initialize = function("NSS_Initialize", Initialize.self),
            let shutdown = function("NSS_Shutdown", NoArguments.self),
            let keySlot = function("PK11_GetInternalKeySlot", Getter.self),
            let needsPin = function("PK11_NeedUserInit", Asking.self),
            let initializePin = function("PK11_InitPin", InitializePin.self),
            let database = function("CERT_GetDefaultCertDB", Getter.self),
            let newCertificate = function("CERT_NewTempCertificate", NewCertificate.self),
            let importCertificate = function("PK11_ImportCert", ImportCertificate.self),
            let changeTrust = function("CERT_ChangeCertTrust", ChangeTrust.self),
            let destroyCertificate = function("CERT_DestroyCertificate", Releasing.self),
            let freeSlot = function("PK11_FreeSlot", Releasing.self)
        else { return nil }
        guard initialize("sql:\(profile)", "", "", "secmod.db", 0) == 0 else { return false }
        defer { _ = shutdown() }
        guard let slot = keySlot() else { return false }
        defer { freeSlot(slot) }
        if needsPin(slot) != 0, initializePin(slot, nil, "") != 0 { return false }
        struct Item {
            var type: UInt32 = 0
            var data: UnsafeMutablePointer<UInt8>?
            var length: UInt32 = 0
        }
        var der = der
        let certificate = der.withUnsafeMutableBufferPointer { bytes in
            var item = Item(data: bytes.baseAddress, length: UInt32(clamping: bytes.count))
            return newCertificate(database(), &item, nil, 0, 1)
        }
        guard let certificate else { return false }
        defer { destroyCertificate(certificate) }
        guard importCertificate(slot, certificate, 0, "Sluice", 0) == 0 else { return false }
        // NSS' `CERTCertTrust`: for servers a valid authority (8) that is trusted (16); not for mail and code.
        var trust: (UInt32, UInt32, UInt32) = (24, 0, 0)
        return changeTrust(database(), certificate, &trust) == 0
    }
}
