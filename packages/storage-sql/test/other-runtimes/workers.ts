import { describeStorage } from '@signalbox/testing/storage'
import { type ObjectNamespace, StorageObject, workersStorage } from '../../src/workers.ts'
import { runTests } from './vitest.ts'

// Runs in workerd: the conformance suite over an object, or a part of a race between Workers.

export { StorageObject }

interface Bindings {
  readonly STORAGE: ObjectNamespace
}

let made = 0

async function conformance({ STORAGE }: Bindings, share: number): Promise<Response> {
  const make = async () => {
    const name = `conformance ${made++}`
    const open = () => workersStorage({ objects: STORAGE, name })
    return { storage: open(), reopen: async () => open() }
  }
  describeStorage('workers', make, { share, lacks: ['spool'] })
  return Response.json(await runTests())
}

/** So many holds at once, each of 10 on an account; returns how many were admitted. */
async function race({ STORAGE }: Bindings, { name, holds }: { readonly name: string; readonly holds: number }): Promise<Response> {
  const { ledger, counters } = workersStorage({ objects: STORAGE })
  const at = 1_750_000_000_000
  const accounts = [{ account: 'a', floor: 0 }]
  const reserve = (n: number) => ledger.reserve({ id: `${name}-${n}`, amount: 10, accounts, at, journal: () => `journal of ${name}-${n}` })
  const take = () => counters.take([{ key: 'w/requests', amount: 1, limit: 200, windowMs: 60_000 }], at)
  const held = await Promise.all(Array.from({ length: holds }, (_, n) => reserve(n)))
  const taken = await Promise.all(Array.from({ length: holds }, take))
  return Response.json([held, taken].map(answers => answers.filter(refusal => refusal === undefined).length))
}

async function call({ STORAGE }: Bindings, { verb, argument }: { readonly verb: string; readonly argument: string }): Promise<Response> {
  const { ledger } = workersStorage({ objects: STORAGE })
  const run = (ledger as unknown as Readonly<Record<string, (given: unknown, more: unknown) => unknown>>)[verb]
  try {
    return Response.json({ value: await run?.(JSON.parse(argument), { limit: 10 }) })
  } catch (error) {
    return Response.json({ name: (error as Error).name, message: (error as Error).message })
  }
}

// biome-ignore lint/style/noDefaultExport: Workers ask for it.
export default {
  async fetch(request: Request, bindings: Bindings): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const asked = (name: string): string => searchParams.get(name) ?? ''
    if (pathname === '/race') return race(bindings, { name: asked('name'), holds: Number(asked('holds')) })
    if (pathname === '/call') return call(bindings, { verb: asked('verb'), argument: asked('argument') })
    return conformance(bindings, Number(asked('share')))
  },
}
