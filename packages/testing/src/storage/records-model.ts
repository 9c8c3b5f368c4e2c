import type { Change, RecordPut, StoredRecord } from '@signalbox/storage/records'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { auditRow, put, stored } from './records-samples.ts'
import { type MakeStorage, type RunCount, T0 } from './subject.ts'

// A model of commits that copies everything and keeps the copy only without a conflict. Stores must agree with it.

interface Kept {
  /** In order of creation. */
  readonly records: readonly StoredRecord[]
  readonly credited: ReadonlySet<string>
  readonly rows: number
}

/** The state after a change, or undefined in case of a conflict. */
function after({ records, credited, rows }: Kept, { puts = [], removals = [], credits = [], audit = [] }: Change): Kept | undefined {
  const left = new Map(records.map(record => [record.id, record]))
  for (const { id, version, workspaceId } of [...puts, ...removals]) {
    const known = left.get(id)
    if (version === 0 ? known : known?.version !== version || known.workspaceId !== workspaceId) return undefined
  }
  for (const { id } of removals) left.delete(id)
  for (const given of puts) left.set(given.id, stored(given))
  const names = [...left.values()].flatMap(({ name }) => name ?? [])
  const isCredited = credits.some(({ id }) => credited.has(id)) || new Set(credits.map(({ id }) => id)).size < credits.length
  if (new Set(names).size < names.length || isCredited || (audit[0] && audit[0].place !== rows + 1)) return undefined
  return {
    records: [...left.values()],
    credited: new Set([...credited, ...credits.map(({ id }) => id)]),
    rows: rows + audit.length,
  }
}

/** A version is generated as its distance from the true one, since random versions would mostly be stale. */
const nearly = { weight: 12, arbitrary: fc.constant(0) }
const drift = fc.oneof(nearly, { weight: 1, arbitrary: fc.constantFrom(-1, 1) })
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const workspaceId = fc.oneof({ weight: 9, arbitrary: fc.constant('ws_1') }, { weight: 1, arbitrary: fc.constant('ws_2') })
const step = fc.record({
  records: fc.uniqueArray(
    fc.record({
      id,
      workspaceId,
      drift,
      isRemoval: fc.constantFrom(false, false, true),
      name: fc.constantFrom(undefined, undefined, 'one', 'two', 'three'),
      group: fc.constantFrom(undefined, 'red', 'blue'),
    }),
    { selector: ({ id }) => id, maxLength: 4 },
  ),
  credits: fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 2 }),
  audit: fc.record({ drift, count: fc.integer({ min: 0, max: 2 }) }),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Names {
  readonly kind: string
  readonly run: string
}

/** The step as a change of the current state, with names of this run. */
function changeOf({ records, credits, audit }: Step, kept: Kept, { kind, run }: Names): Change {
  const mine = (name: string): string => `${run} ${name}`
  const versionOf = (wanted: string) => kept.records.find(record => record.id === mine(wanted))?.version ?? 0
  const rows = records.map(({ drift, isRemoval, ...fields }) => ({ fields, isRemoval, version: Math.max(0, versionOf(fields.id) + drift) }))
  const toPut = ({ fields: { id, workspaceId, name, group }, version }: (typeof rows)[number]): RecordPut => {
    const named = { ...(name !== undefined && { name: mine(name) }), ...(group !== undefined && { group }) }
    return put(mine(id), { kind, workspaceId: mine(workspaceId), version, ...named })
  }
  const first = Math.max(1, kept.rows + 1 + audit.drift)
  return {
    puts: rows.filter(({ isRemoval }) => !isRemoval).map(toPut),
    removals: rows.filter(({ isRemoval, version }) => isRemoval && version > 0).map(toPut),
    credits: credits.map(n => ({ id: `credit ${n}`, account: mine('account'), amount: 1 + n, at: T0 })),
    audit: Array.from({ length: audit.count }, (_, n) => auditRow(first + n, { workspaceId: mine('ws_1') })),
  }
}

/** Random changes, compared with the model after each. `describeRecordsModel(opener(make), runs => runs)` */
export function describeRecordsModel(open: MakeStorage, runs: RunCount): void {
  test('random changes are applied completely or not at all, as in the model', async () => {
    const { records, ledger, audit } = (await open()).storage
    let run = 0
    let done = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async steps => {
        const names = { kind: `kind ${++run}`, run: `run ${run}` }
        let kept: Kept = { records: [], credited: new Set(), rows: 0 }
        for (const next of steps) {
          const change = changeOf(next, kept, names)
          const expected = after(kept, change)
          const conflict = await records.commit(change)
          expect(conflict === undefined).toBe(expected !== undefined)
          if (expected) done++
          kept = expected ?? kept
          expect(await records.list({ kind: names.kind, limit: 99 })).toEqual(kept.records)
        }
        for (const record of kept.records)
          if (record.name !== undefined) expect(await records.findByName(names.kind, record.name)).toEqual(record)
        const entries = await ledger.entries(`${names.run} account`, { limit: 999 })
        expect(new Set(entries.map(entry => entry.id))).toEqual(kept.credited)
        expect(entries).toHaveLength(kept.credited.size)
        expect((await audit.last(`${names.run} ws_1`))?.place ?? 0).toBe(kept.rows)
      }),
      { numRuns: runs(100) },
    )
    // The property would also hold if no change ever succeeded.
    expect(done).toBeGreaterThan(runs(100) / 2)
  })
}
