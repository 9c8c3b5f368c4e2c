// What the conformance suite uses of vitest, for runtimes in which vitest does not run. Bundles replace `vitest` by this module.

export { expect } from './expect.ts'

/** How a test ended. */
export interface TestEnd {
  readonly name: string
  readonly end: 'passed' | 'failed'
  readonly reason?: string
}

interface DeclaredTest {
  readonly name: string
  readonly run: () => unknown
}

const declared: DeclaredTest[] = []
const path: string[] = []
let finishers: (() => unknown)[] = []

export function describe(name: string, declare: () => void): void {
  path.push(name)
  declare()
  path.pop()
}

const declareTest = (name: string, run: DeclaredTest['run']): void => void declared.push({ name: [...path, name].join(' > '), run })

export const test = Object.assign(declareTest, {
  each:
    (cases: readonly unknown[]) =>
    (name: string, run: (...values: readonly unknown[]) => unknown): void => {
      for (const values of cases) {
        const list = Array.isArray(values) ? values : [values]
        declareTest(name.replace(/%[is]/, String(list[0])), () => run(...list))
      }
    },
})

export const onTestFinished = (finish: () => unknown): void => void finishers.push(finish)

async function runOne({ name, run }: DeclaredTest): Promise<TestEnd> {
  finishers = []
  try {
    await run()
    return { name, end: 'passed' }
  } catch (error) {
    return { name, end: 'failed', reason: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) }
  } finally {
    for (const finish of finishers) await Promise.resolve(finish()).catch(() => undefined)
  }
}

/** Runs what was declared, one after the other. */
export async function runTests(): Promise<readonly TestEnd[]> {
  const ends: TestEnd[] = []
  for (const one of declared) ends.push(await runOne(one))
  return ends
}
