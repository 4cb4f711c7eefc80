import Dispatch
import Testing

@testable import Recording

@Suite struct WakeUpTests {
    @Test func aDeadlineEndsTheWait() {
        let wakeUp = WakeUp()
        let begin = DispatchTime.now()
        #expect(!wakeUp.wait(until: begin + .milliseconds(20)))
        #expect(DispatchTime.now() >= begin + .milliseconds(20))
    }

    @Test func aSignalBeforeTheWaitEndsOneWait() {
        let wakeUp = WakeUp()
        wakeUp.signal()
        #expect(wakeUp.wait(until: .now() + .seconds(10)))
        #expect(!wakeUp.wait(until: .now()))
    }

    @Test func aSignalEndsAWaitWithoutADeadline() {
        let (wakeUp, back) = (WakeUp(), WakeUp())
        DispatchQueue.global().async {
            wakeUp.wait()
            back.signal()
        }
        wakeUp.signal()
        #expect(back.wait(until: .now() + .seconds(10)))
    }

    @Test func eachSignalEndsOneWait() {
        let wakeUp = WakeUp()
        for _ in 0..<3 { wakeUp.signal() }
        for _ in 0..<3 { #expect(wakeUp.wait(until: .now())) }
        #expect(!wakeUp.wait(until: .now()))
    }
}
