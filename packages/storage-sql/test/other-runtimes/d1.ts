import { describeStorage } from '@signalbox/testing/storage'
import { type D1Database, d1Storage } from '../../src/d1.ts'
import { runTests } from './vitest.ts'

// Runs in workerd, over D1: the conformance suite, or a part of a race between Workers.

interface Bindings {
  readonly DB: D1Database
}

/** Drops all tables, with their indexes and triggers. */
async function empty({ DB }: Bindings): Promise<void> {
  const [tables] = await DB.batch([DB.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB '_cf_*'")])
  const names = (tables?.results ?? []).map(row => (row as { readonly name: string }).name)
  if (names.length > 0) await DB.batch(names.map(name => DB.prepare(`DROP TABLE ${name}`)))
}

async function conformance(bindings: Bindings, share: number): Promise<Response> {
  const make = async () => {
    await empty(bindings)
    return { storage: d1Storage(bindings.DB), reopen: async () => d1Storage(bindings.DB) }
  }
  describeStorage('d1', make, { share, lacks: ['spool'] })
  return Response.json(await runTests())
}

/** So many holds at once, each of 10 on an account; returns how many were admitted. */
async function race({ DB }: Bindings, { name, holds }: { readonly name: string; readonly holds: number }): Promise<Response> {
  const { ledger } = d1Storage(DB)
  const accounts = [{ account: 'a', floor: 0 }]
  const answers = await Promise.all(
    Array.from({ length: holds }, (_, n) => ledger.reserve({ id: `${name}-${n}`, amount: 10, accounts, at: 1_750_000_000_000 })),
  )
  return Response.json(answers.filter(refusal => refusal === undefined).length)
}

// biome-ignore lint/style/noDefaultExport: Workers ask for it.
export default {
  async fetch(request: Request, bindings: Bindings): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/race') return race(bindings, { name: searchParams.get('name') ?? '', holds: Number(searchParams.get('holds')) })
    return conformance(bindings, Number(searchParams.get('share')))
  },
}
