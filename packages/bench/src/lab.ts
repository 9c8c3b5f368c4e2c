import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleGateway } from './bundle.ts'
import type { LoadVerbs } from './children/load.ts'
import type { Listening, MeasuredVerbs } from './children/measured.ts'
import type { UpstreamVerbs } from './children/upstream.ts'
import { type Child, start } from './ipc.ts'

/** The servers that are measured. */
export const kinds = ['floor', 'memory', 'sqlite'] as const
export type Kind = (typeof kinds)[number]

export interface Server extends Listening {
  /** `peer`: another gateway. */
  readonly kind: Kind | 'peer'
  readonly child: Child<MeasuredVerbs>
  stop(): Promise<void>
}

/** The provider and the load generator, each in its own process; servers are started in further ones. */
export interface Lab {
  readonly load: Child<LoadVerbs>
  open(kind: Server['kind']): Promise<Server>
  close(): Promise<void>
}

export async function openLab(): Promise<Lab> {
  const bundle = await bundleGateway()
  const books = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
  const script = (name: string): string => join(import.meta.dirname, 'children', `${name}.ts`)
  const provider = start<UpstreamVerbs>({ script: script('upstream') })
  const load = start<LoadVerbs>({ script: script('load') })
  const upstream = `http://127.0.0.1:${await provider.ask('listen', {})}`
  const open = new Set<Server>()
  let opened = 0
  return {
    load,
    async open(kind) {
      opened += 1
      const file = join(books, `${opened}.db`)
      const child = start<MeasuredVerbs>({
        script: kind === 'floor' || kind === 'peer' ? script(kind) : bundle,
        args: kind === 'sqlite' ? [file] : [],
        execArgv: ['--expose-gc'],
      })
      const listening = await child.ask('listen', { upstream })
      const server: Server = {
        kind,
        child,
        ...listening,
        stop: () => {
          open.delete(server)
          return child.stop()
        },
      }
      open.add(server)
      return server
    },
    async close() {
      await Promise.all([...open].map(server => server.stop()))
      await Promise.all([load.stop(), provider.stop()])
      rmSync(books, { recursive: true, force: true })
    },
  }
}
