import ArgumentParser
import Files
import Foundation
import HTTPModel
import Jobs
import Runner
import Store

/// The store that a recording sends its exchanges to.
struct StoreOptions: ParsableArguments {
    @Option(help: .value("url", "Also send ended exchanges to this store: postgresql://host/database."))
    var store: String?
    @OptionGroup var project: StoreProject
    @Option(help: .value("k=v", "With --store: a label of this recording; repeatable."))
    var label: [String] = []
    @OptionGroup var masking: StoreMasking

    func validate() throws {
        let isGiven = project.project != nil || !label.isEmpty || masking.isGiven
        if store == nil, isGiven { throw ValidationError("--project, --label and --store-… need --store.") }
        _ = try labels()
    }

    private func labels() throws -> [String: String] {
        try Dictionary(label.map(StoreOptions.label)) { $1 }
    }

    static func label(_ text: String) throws -> (String, String) {
        guard let label = Filter.label(text) else {
            throw ValidationError("--label takes a name and a value, for example branch=main; not '\(text)'.")
        }
        return label
    }

    func set(_ settings: inout RunSettings) throws {
        guard let store else { return }
        if settings.recordsNothing { throw ValidationError("--store needs a session: --no-session has none.") }
        if settings.rotation != nil {
            throw ValidationError("--store and --rotate exclude each other; --max-session bounds the session's file.")
        }
        var shipper = try project.shipper(store)
        shipper.labels = try labels()
        settings.store = try masking.apply(to: shipper)
    }
}

struct StoreProject: ParsableArguments {
    @Option(help: .value("name", "The project within the store. (default: traffic)"))
    var project: String?

    func address(_ url: String) throws -> StoreAddress {
        do {
            return try StoreAddress(url, project: project ?? StoreAddress.defaultProject)
        } catch {
            throw StartError(error.message, hint: error.hint, isUsage: error.code == .address)
        }
    }

    func shipper(_ url: String) throws -> Shipper.Settings {
        var settings = Shipper.Settings(try address(url))
        settings.version = SluiceVersion.current
        return settings
    }
}

struct StoreMasking: ParsableArguments {
    @Option(
        help: .value("file", "With --store: a key that gives a secret the same placeholder in all recordings."),
        completion: .file()
    )
    var labelKey: String?
    @Flag(help: "With --store: do not mask secrets.") var storeSecrets = false
    @Option(help: .value("size", "With --store: only so much of each body (1mb)."))
    var storeBody: String?

    var isGiven: Bool { labelKey != nil || storeSecrets || storeBody != nil }

    private static let (shortestKey, longestKey) = (16, 4_096)

    func apply(to shipper: Shipper.Settings) throws -> StoreSettings {
        var shipper = shipper
        if let storeBody {
            guard let size = Filter.bytes(of: storeBody), (0...(256 << 20)).contains(size) else {
                throw ValidationError("--store-body takes a size up to 256mb, for example 64kb; not '\(storeBody)'.")
            }
            shipper.longestBody = Int(size)
        }
        var settings = StoreSettings(shipper)
        settings.keepsSecrets = storeSecrets
        settings.key = try labelKey.map { path in
            let bytes = try InputFile.contents(of: path, atMost: Self.longestKey, takesPipes: true)
            guard bytes.count >= Self.shortestKey else {
                let hint = "Make one with: head -c 32 /dev/urandom > \(path)"
                throw StartError("\(path) has \(bytes.count) bytes; a key has 16 or more.", hint: hint, isUsage: true)
            }
            return LabelKey(bytes)
        }
        return settings
    }
}

/// How commands read a store in place of a session.
struct StoreReading: ParsableArguments {
    @OptionGroup var project: StoreProject
    @Option(help: .value("count", "Of a store: only the newest so many that fit. (default: 10000)"))
    var limit: Int?

    func validate() throws {
        if let limit, !(1...10_000_000).contains(limit) {
            throw ValidationError("--limit takes a number from 1 to 10000000; not '\(limit)'.")
        }
    }

    /// `nil` if the word is no store.
    func fetch(_ session: String, bodies: Bool = true, isStore: Bool = false) throws -> StoreFetch? {
        guard isStore || StoreAddress.isOne(session) else {
            if limit != nil || project.project != nil {
                throw ValidationError("--limit and --project are for stores: postgresql://host/database.")
            }
            return nil
        }
        var fetch = StoreFetch(try project.address(session))
        if let limit { fetch.limit = limit }
        fetch.wantsBodies = bodies
        return fetch
    }
}
