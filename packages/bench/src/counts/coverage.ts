import { Session } from 'node:inspector/promises'

/** How often each function of the product ran, as `core/request/run-request.ts:runRequest@120`; the number is its position in the file. */
export type FunctionCalls = Readonly<Record<string, number>>

export interface Coverage {
  start(): Promise<void>
  /** Calls since the start or the previous `take`. */
  take(): Promise<FunctionCalls>
}

interface Script {
  readonly url: string
  readonly functions: readonly {
    readonly functionName: string
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
  }[]
}

/** V8's exact call counts of this process. */
export function openCoverage(): Coverage {
  const session = new Session()
  return {
    async start() {
      session.connect()
      await session.post('Profiler.enable')
      await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    },
    async take() {
      const { result } = (await session.post('Profiler.takePreciseCoverage')) as { readonly result: readonly Script[] }
      return Object.fromEntries(result.flatMap(callsIn))
    },
  }
}

function callsIn({ url, functions }: Script): readonly (readonly [string, number])[] {
  const [, name, path] = /\/packages\/([\w-]+)\/src\/(.+)$/.exec(url) ?? []
  if (name === undefined || name === 'bench') return []
  return functions.flatMap(({ functionName, ranges: [range] }) =>
    range === undefined || range.count === 0 ? [] : [[`${name}/${path}:${functionName}@${range.startOffset}`, range.count] as const],
  )
}
