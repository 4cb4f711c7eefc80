/// Measures the subjects in turn, because the speed of the machine changes from minute to minute.
struct Runner {
    let bench: Bench
    let subjects: [Subject]
    let rounds: Int

    /// The figures of a section by the names of the subjects.
    struct Results {
        /// The medians of the rounds.
        var figures: [String: [Figure: Double]] = [:]
        /// Why a subject could not be measured.
        var failures: [String: any Error] = [:]
    }

    func run(_ section: Section) -> Results {
        let measurement = section.measurement
        let subjects = subjects.filter(measurement.applies)
        var results = Results()
        var samples: [String: [Figure: [Double]]] = [:]
        for round in 0..<measurement.rounds(standard: rounds) {
            // Each round begins with a different subject.
            let order = subjects.indices.map { subjects[($0 + round) % subjects.count] }
            for subject in order where results.failures[subject.name] == nil {
                do {
                    for (figure, value) in try measurement.measure(subject, in: bench) {
                        samples[subject.name, default: [:]][figure, default: []].append(value)
                    }
                } catch {
                    results.failures[subject.name] = error
                }
            }
        }
        for (name, figures) in samples where results.failures[name] == nil {
            results.figures[name] = figures.mapValues(\.median)
        }
        return results
    }
}
