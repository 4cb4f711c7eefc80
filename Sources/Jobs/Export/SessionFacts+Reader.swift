package import Formats
import Foundation
import HTTPModel
package import Masking
package import Recording
import Rules
import Tools

extension SessionFacts {
    /// The labels, runs and rules of a session, without secrets if `masked` is given. Unreadable parts are left out.
    package init(_ reader: SessionReader, masked: MaskedSource? = nil) {
        let mask = masked.map { ProfileMask($0, (try? SessionMask.rules(of: reader)) ?? MaskRules()) }
        let name = reader.path.split(separator: "/").last.map { String($0) } ?? ""
        self.init(name: name, version: SluiceVersion.current, system: SessionFacts.systemName)
        labels = ((try? reader.identity().labels) ?? [:]).mapValues { masked?.masked(text: $0) ?? $0 }
        runs = ((try? reader.runs()) ?? []).map { ($0.sluiceVersion, $0.startedAt, $0.endedAt) }
        rules = ((try? reader.rules()) ?? []).map { set in
            (set.at, set.sources.map { mask?.source($0) ?? $0 }, set.switchedOff)
        }
        for tool in ToolRegistry.standard.tools where tool.change != nil { changes[tool.key] = tool.change }
    }

    private static var systemName: String {
        #if arch(arm64)
        let processor = "arm64"
        #elseif arch(x86_64)
        let processor = "x86-64"
        #else
        let processor = "another processor"
        #endif
        return "\(ProcessInfo.processInfo.operatingSystemVersionString), \(processor)"
    }
}
