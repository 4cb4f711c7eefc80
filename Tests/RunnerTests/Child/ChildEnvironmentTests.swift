import Foundation
import NIOCore
import Support
import Testing
import Wire

@testable import Jobs
@testable import Runner

@Suite struct ChildEnvironmentTests {
    private let authority: CertificateAuthority
    private let trust: TrustFiles

    init() throws {
        authority = try CertificateAuthority.generate(label: "ours")
        trust = try TrustFiles(authority: authority, environment: ["SSL_CERT_FILE": "/nowhere"])
        trust.remove()
    }

    private func environment(
        _ inherited: [String: String] = [:],
        at address: String = "127.0.0.1"
    ) throws -> ChildEnvironment {
        ChildEnvironment(
            inherited: inherited,
            proxy: try SocketAddress(ipAddress: address, port: 4711),
            trust: trust
        )
    }

    @Test("Every variable of the table leads to the proxy or to one of the files")
    func table() throws {
        let inherited = ["HOME": "/home/me", "SSL_CERT_FILE": "/old", "http_proxy": "http://old"]
        let variables = try environment(inherited).variables
        #expect(variables["HOME"] == "/home/me")
        for variable in ClientVariable.all where variable.content == .proxy {
            #expect(variables[variable.name] == "http://127.0.0.1:4711")
        }
        for name in ["http_proxy", "HTTPS_PROXY", "ALL_PROXY", "SLUICE_PROXY"] { #expect(variables[name] != nil) }
        for name in ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE"] {
            #expect(variables[name] == "\(trust.directory.path)/bundle.pem")
        }
        #expect(variables["NODE_EXTRA_CA_CERTS"] == "\(trust.directory.path)/additions.pem")
        #expect(variables["NODE_USE_ENV_PROXY"] == "1")
        #expect(variables["SLUICE_CA"] == "\(trust.directory.path)/ca.pem")
        #expect(variables["PHP_INI_SCAN_DIR"] == ":\(trust.directory.path)/php")
        #expect(Set(ClientVariable.all.map(\.name)).count == ClientVariable.all.count)
        for variable in ClientVariable.all { #expect(variables[variable.name]?.isEmpty == false) }
    }

    @Test("Exceptions and other proxies are not handed on, and the user is told")
    func exceptions() throws {
        let inherited = [
            "NO_PROXY": "localhost", "no_proxy": "", "no_grpc_proxy": "x", "npm_config_noproxy": "y",
            "https_proxy": "http://corp:3128",
        ]
        let environment = try environment(inherited)
        for name in inherited.keys where name != "https_proxy" { #expect(environment.variables[name] == nil) }
        #expect(
            environment.notes == [
                "NO_PROXY (localhost) is not handed to the command: all its requests shall pass Sluice",
                "https_proxy is set; Sluice does not use that proxy, and the command uses Sluice in its place",
            ]
        )
        #expect(try self.environment().notes == [])
    }

    @Test(
        "A proxy that listens on all addresses is used at the loopback one",
        arguments: [
            ("0.0.0.0", "http://127.0.0.1:4711", "-Dhttp.proxyHost=127.0.0.1 "),
            ("::", "http://[::1]:4711", "-Dhttp.proxyHost=::1 "),
            ("::1", "http://[::1]:4711", "-Dhttp.proxyHost=::1 "),
            ("192.0.2.7", "http://192.0.2.7:4711", "-Dhttp.proxyHost=192.0.2.7 "),
        ]
    )
    func addresses(address: String, url: String, option: String) throws {
        let variables = try environment(at: address).variables
        #expect(variables["http_proxy"] == url)
        #expect(variables["JAVA_TOOL_OPTIONS"]?.contains(option) == true)
    }

    @Test("Java's options come after those that the user set, so that ours count")
    func java() throws {
        let user = "-Xmx1g -Djavax.net.ssl.trustStore=/theirs.jks"
        let environment = try environment(["JAVA_TOOL_OPTIONS": user])
        let options = try #require(environment.variables["JAVA_TOOL_OPTIONS"])
        #expect(
            options.split(separator: " ").map(String.init) == [
                "-Xmx1g", "-Djavax.net.ssl.trustStore=/theirs.jks", "-Dhttp.proxyHost=127.0.0.1",
                "-Dhttp.proxyPort=4711", "-Dhttps.proxyHost=127.0.0.1", "-Dhttps.proxyPort=4711",
                "-Dhttp.nonProxyHosts=", "-Djavax.net.ssl.trustStore=\(trust.directory.path)/truststore.p12",
                "-Djavax.net.ssl.trustStoreType=PKCS12", "-Djavax.net.ssl.trustStorePassword=changeit",
            ]
        )
        #expect(environment.notes.count == 1)
        #expect(try self.environment(["JAVA_TOOL_OPTIONS": ""]).variables["JAVA_TOOL_OPTIONS"]?.first == "-")
    }

    @Test("Git's own setting of a proxy is outranked, and what the user added this way is kept")
    func git() throws {
        let user = ["GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "me"]
        let variables = try environment(user).variables
        #expect(variables["GIT_CONFIG_COUNT"] == "2")
        #expect(variables["GIT_CONFIG_KEY_0"] == "user.name")
        #expect(variables["GIT_CONFIG_KEY_1"] == "http.proxy")
        #expect(variables["GIT_CONFIG_VALUE_1"] == "http://127.0.0.1:4711")
        #expect(try environment(["GIT_CONFIG_COUNT": "x"]).variables["GIT_CONFIG_COUNT"] == "1")
        #expect(try environment(["GIT_CONFIG_COUNT": "-3"]).variables["GIT_CONFIG_COUNT"] == "1")
    }
}

@Suite struct TrustFilesTests {
    @Test("The files hold our authority, the system's, and those that the user's variables name")
    func content() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        func write(_ name: String) throws -> (path: String, pem: String) {
            let pem = try CertificateAuthority.generate(label: name).certificatePEM
            return (try scratch.write("\(name).pem", pem), pem)
        }
        let (system, curl, node) = (try write("system"), try write("curl"), try write("node"))
        let rc = try scratch.write(".wgetrc", "quiet = on\n")
        let ours = try CertificateAuthority.generate(label: "ours")
        let files = try TrustFiles(
            authority: ours,
            environment: [
                "SSL_CERT_FILE": system.path, "CURL_CA_BUNDLE": curl.path, "NODE_EXTRA_CA_CERTS": node.path,
                "AWS_CA_BUNDLE": "/nowhere/aws.pem", "PIP_CERT": "", "HOME": scratch.path,
            ]
        )
        defer { files.remove() }
        func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
        #expect(try text(files.authority) == ours.certificatePEM)
        #expect(try text(files.additions) == ours.certificatePEM + node.pem)
        #expect(try text(files.bundle) == system.pem + ours.certificatePEM + curl.pem + node.pem)
        #expect(try Data(contentsOf: URL(fileURLWithPath: files.javaStore)).first == 0x30)
        #expect(try text(files.wgetSettings) == text(rc) + "\nca_certificate=\(files.bundle)\n")
        #expect(try text("\(files.phpDirectory)/sluice.ini").contains("curl.cainfo=\"\(files.bundle)\""))
        #expect(
            files.notes == ["the authorities that AWS_CA_BUNDLE names cannot be used: no such file (/nowhere/aws.pem)"]
        )
    }

    @Test("The directory is the user's alone, has an absolute path, and is gone when it is removed")
    func directory() throws {
        let environment = ["SSL_CERT_FILE": "/nowhere"]
        let files = try TrustFiles(authority: CertificateAuthority.generate(), environment: environment)
        #expect(files.directory.path.hasPrefix("/"))
        let mode =
            try FileManager.default.attributesOfItem(atPath: files.directory.path)[.posixPermissions] as? NSNumber
        #expect(mode == 0o700)
        files.remove()
        #expect(!FileManager.default.fileExists(atPath: files.directory.path))
    }
}
