import Stages

extension ThrottleConditions {
    /// The conditions in a few words: `1600/768 kbit/s, 300 ms`.
    var brief: String {
        var parts: [String] = []
        if down != nil || up != nil {
            let text = [down, up].map { $0.map { String(Int($0)) } ?? "∞" }.joined(separator: "/")
            parts.append("\(text) kbit/s")
        }
        if latency > 0 { parts.append("\(Int(latency)) ms") }
        if reliability < 100 { parts.append("\(Int(reliability)) % reliable") }
        if stability < 100 { parts.append("\(Int(stability)) % stable") }
        return parts.joined(separator: ", ")
    }
}
