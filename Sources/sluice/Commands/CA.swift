import ArgumentParser
import Description
import Files
import Foundation
import Jobs
import NIOCore
import Runner
import Wire

struct CA: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca",
        abstract: "Show or export the certificate authority.",
        subcommands: [Path.self, Show.self, Export.self]
    )

    struct Path: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "path",
            abstract: "Print the path of the authority's certificate (PEM); creates the authority if needed."
        )

        func run() throws {
            _ = try RunningProxy.loadAuthority(RunSettings())
            try OutputFile(nil).write(StandardPaths.authorityCertificate + "\n")
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print the authority's subject, dates and fingerprint."
        )

        @OptionGroup var source: AuthorityOptions

        func run() throws {
            let authority = try source.load()
            StandardStreams.out(
                """
                subject      \(authority.subject)
                valid from   \(Timestamp.iso8601(seconds: authority.notBefore))
                valid until  \(Timestamp.iso8601(seconds: authority.notAfter))
                SHA-256      \(authority.fingerprint)

                """
            )
        }
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Export the authority for a device or program that should trust it.",
            discussion: "p12 includes the private key, to move the authority to another machine; keep it secret."
        )

        enum Format: String, ExpressibleByArgument, CaseIterable {
            case pem, der, p12, mobileconfig
            case trustHelp = "trust-help"
        }

        @OptionGroup var source: AuthorityOptions
        @Option(help: "The format; trust-help explains how to trust it on each platform.") var format: Format
        @Option(
            name: .shortAndLong,
            help: .value("file", "The file to write. (default: standard output)"),
            completion: .file()
        )
        var output: String?
        @Option(help: "The password of p12; other users of this machine can see it.") var password: String?
        @Option(help: "The file whose first line is the password; - is standard input.", completion: .file())
        var passwordFile: String?

        func validate() throws {
            try Password.check(password, passwordFile, "")
            guard format == .p12, password == nil, passwordFile == nil else { return }
            throw ValidationError("p12 includes the private key: protect it with --password-file or --password.")
        }

        func run() throws {
            let authority = try source.load()
            let bytes: [UInt8] =
                switch format {
                case .pem: try authority.export(.pem)
                case .der: try authority.export(.der)
                case .p12: try authority.export(.p12, password: try Password.choose(password, passwordFile) ?? "")
                case .mobileconfig: try authority.export(.mobileconfig)
                case .trustHelp: Array(TrustHelp.text(path: source.ca ?? StandardPaths.authorityCertificate).utf8)
                }
            try OutputFile(output, isSecret: format == .p12).writeAll(.init(bytes: bytes))
        }
    }
}

struct AuthorityOptions: ParsableArguments {
    @Option(help: .value("file", "Another authority: PEM with key, or PKCS #12."), completion: .file())
    var ca: String?
    @Option(help: .rare("file", "The PEM file of its key, if --ca has none."), completion: .file()) var caKey: String?
    @Option(help: .rare("password", "The password of a PKCS #12 authority.")) var caPassword: String?
    @Option(
        help: .rare("file", "The file whose first line is that password; - is standard input."),
        completion: .file()
    )
    var caPasswordFile: String?

    func validate() throws {
        if caKey != nil, ca == nil { throw ValidationError("--ca-key needs --ca.") }
        try Password.check(caPassword, caPasswordFile, "ca-")
    }

    func settings() throws -> RunSettings {
        var settings = RunSettings()
        settings.authority = ca
        settings.authorityKey = caKey
        settings.authorityPassword = try Password.choose(caPassword, caPasswordFile)
        return settings
    }

    func load() throws -> CertificateAuthority { try RunningProxy.loadAuthority(settings()) }
}

/// A password on the command line, where others can see it, or in a file.
enum Password {
    private static let maximumBytes = 1_024

    static func check(_ password: String?, _ file: String?, _ prefix: String) throws {
        guard password != nil, file != nil else { return }
        throw ValidationError("--\(prefix)password and --\(prefix)password-file exclude each other.")
    }

    /// The file's first line, if there is a file; `-` is standard input.
    static func choose(_ password: String?, _ file: String?) throws -> String? {
        guard let file else { return password }
        guard file != "-" else {
            guard let line = readLine(), !line.isEmpty else { throw StartError("Standard input has no password.") }
            return line
        }
        let bytes = try InputFile.contents(of: file, atMost: maximumBytes + 1, takesPipes: true)
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, line.count <= maximumBytes, let text = String(validating: line, as: UTF8.self) else {
            throw StartError("The first line of \(file) is not a password.")
        }
        return text
    }
}
