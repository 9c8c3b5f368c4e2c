import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duties } from './bench-gateway.ts'
import { bundleGateway } from './bundle.ts'
import type { LoadVerbs } from './children/load.ts'
import type { Listening, MeasuredVerbs } from './children/measured.ts'
import type { UpstreamVerbs } from './children/upstream.ts'
import { type Child, start } from './ipc.ts'
import { dropSchema, newName } from './stores.ts'

/** The measured servers. */
export const kinds = ['floor', 'memory', 'sqlite'] as const
export type Kind = (typeof kinds)[number]
/** Storages on servers of this machine. */
const sharedKinds = ['postgres', 'postgres-redis'] as const
type SharedKind = (typeof sharedKinds)[number]

export interface Server extends Listening {
  /** `peer`: another gateway. */
  readonly kind: Kind | SharedKind | 'peer'
  readonly child: Child<MeasuredVerbs>
  stop(): Promise<void>
}

/** The provider and the load generator, each in its own process; servers are started in further ones. */
export interface Lab {
  readonly load: Child<LoadVerbs>
  /** The provider’s address. */
  readonly upstream: string
  /** `duties`: what ours checks a request for. `core`: the only core that the server runs on. */
  open(kind: Server['kind'], how?: { readonly duties?: Duties; readonly core?: number }): Promise<Server>
  close(): Promise<void>
}

/** `core`: the only core that the provider and the load generator run on. */
export async function openLab(core?: number): Promise<Lab> {
  const bundle = await bundleGateway()
  const books = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
  const script = (name: string): string => join(import.meta.dirname, 'children', `${name}.ts`)
  const provider = start<UpstreamVerbs>({ script: script('upstream'), core })
  const load = start<LoadVerbs>({ script: script('load'), core })
  const upstream = `http://127.0.0.1:${await provider.ask('listen', {})}`
  const open = new Set<Server>()
  const names = new Set<string>()
  let opened = 0
  return {
    load,
    upstream,
    async open(kind, { duties, core } = {}) {
      opened += 1
      const file = join(books, `${opened}.db`)
      const isShared = sharedKinds.some(shared => shared === kind)
      const name = newName()
      if (isShared) names.add(name)
      const child = start<MeasuredVerbs>({
        script: kind === 'floor' || kind === 'peer' ? script(kind) : bundle,
        args: [kind, isShared ? name : file, ...(duties ? [duties] : [])],
        execArgv: ['--expose-gc'],
        core,
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
      for (const name of names) await dropSchema(name)
      rmSync(books, { recursive: true, force: true })
    },
  }
}
