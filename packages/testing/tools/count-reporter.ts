import type { Reporter, TestModule } from 'vitest/node'

/** Prints `tests: N passed, N failed, N skipped (why)` as the very last line of a run. Reasons are those that tests give themselves. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 }
    const reasons = new Set<string>()
    for (const module of modules) {
      // A file that breaks while loading has no tests to count, yet must not pass for a clean one.
      let failedInside = 0
      for (const test of module.children.allTests()) {
        const result = test.result()
        count[result.state] += 1
        if (result.state === 'failed') failedInside += 1
        if (result.state === 'skipped' && result.note !== undefined) reasons.add(result.note)
      }
      if (module.state() === 'failed' && failedInside === 0) count.failed += 1
    }
    const skipped = count.skipped + count.pending
    const why = reasons.size > 0 ? ` (${[...reasons].join('; ')})` : ''
    const line = `tests: ${count.passed} passed, ${count.failed} failed${skipped > 0 ? `, ${skipped} skipped${why}` : ''}\n`
    process.once('exit', () => process.stdout.write(line))
  }
}
