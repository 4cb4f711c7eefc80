import Dispatch
import Formats
import HTTPModel
import Jobs
import Recording
import Support
import Terminal
import Testing

@testable import Console

/// What effects do with a session.
struct EffectTests {
    @Test(arguments: [true, false])
    func `the progress of an export ends at its end, with secrets and without`(keepsSecrets: Bool) throws {
        let scratch = try Scratch()
        let fixture = try QueryFixture(QuerySamples.records(1...5))
        let inbox = try MessageQueue()
        let runner = EffectRunner(inbox: inbox) { _ in }
        try runner.connect(ConsoleServices(session: fixture.path))
        var request = ExportRequest(format: .har, path: scratch.path("a.har"), query: ListQuery())
        request.keepsSecrets = keepsSecrets
        runner.export(request)
        runner.passes.sync {}
        var model = ModelFixture.started(Size(width: 80, height: 24))
        var progress: [Double] = []
        for message in inbox.take() {
            _ = model.update(message)
            progress += model.jobs.compactMap(\.progress)
        }
        #expect(progress.last == 1 && progress == progress.sorted(), "\(progress)")
        #expect(model.jobs.isEmpty && model.told.hasPrefix("5 exchanges are in "), "\(model.told)")
    }

    @Test func `copied URLs are a line each`() throws {
        let fixture = try QueryFixture(QuerySamples.records(1...2))
        let reader = try SessionReader(path: fixture.path)
        let exchanges = try [1, 2].map { try reader.recorded(ExchangeID($0)) }
        let base = "https://api.example.com/v1/items/"
        let maker = CopyMaker(source: reader, files: NamedBodies())
        #expect(try maker.copy(.url, exchanges).text == "\(base)1\n\(base)2")
    }
}
