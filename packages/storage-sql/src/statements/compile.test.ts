import { expect, test } from 'vitest'
import { auditReads } from './audit.ts'
import { fixedStatement, postgresQueries, type Queries } from './compile.ts'
import { ledgerReads } from './ledger.ts'
import { recordReads } from './records.ts'
import { routingReads } from './routing.ts'
import { usageReads } from './usage.ts'

const usage = { workspaceId: 'ws_1', from: 0, to: 9 }

/** The texts of all statements, with every filter once. */
const textsOf = (queries: Queries): readonly string[] => {
  const [audit, ledger, records, routing, rows] = [auditReads, ledgerReads, recordReads, routingReads, usageReads].map(reads =>
    reads(queries),
  ) as never as readonly [
    ReturnType<typeof auditReads>,
    ReturnType<typeof ledgerReads>,
    ReturnType<typeof recordReads>,
    ReturnType<typeof routingReads>,
    ReturnType<typeof usageReads>,
  ]
  const stored = { ...usage, dimension: 'key', span: 1 }
  const compiled = [
    audit.list({ workspaceId: 'ws_1', event: 'e', actorKeyId: 'k', from: 0, to: 9, after: 'a', limit: 9 }),
    ledger.holds({ after: 'a', limit: 9 }),
    ledger.entries('a', { id: 'i', before: 'b', from: 0, to: 9, limit: 9 }),
    records.list({ kind: 'k', workspaceId: 'ws_1', groups: ['g', 'h'], after: 'a', limit: 9 }),
    rows.page({ ...usage, keyId: 'k', model: 'm', provider: 'p' }, { last: 9, seq: 9, limit: 9 }),
    rows.count(usage, 9),
    rows.counted(usage, { seq: 1, limit: 9 }),
    rows.unrolled(usage),
    rows.storedHours({ ...stored, value: 'k' }),
    rows.stored(stored),
  ].map(query => query.compile().sql)
  const fixed = [audit, ledger, records, routing, rows].flatMap(reads =>
    Object.values(reads).flatMap(statement => (typeof statement === 'object' ? [(statement as { readonly text: string }).text] : [])),
  )
  return [...compiled, ...fixed]
}

test('every statement compiles, with numbered placeholders and the schema', () => {
  const texts = textsOf(postgresQueries('mine'))
  expect(texts.length).toBeGreaterThan(20)
  for (const text of texts) {
    expect(text).not.toContain('?')
    expect(text).toContain('"mine".')
  }
})

test('a fixed statement binds each argument in order, also one used twice', () => {
  const found = fixedStatement<{ id: string; limit: number }>(({ id, limit }) =>
    postgresQueries('mine')
      .selectFrom('holds')
      .select('id')
      .where('id', '>', id)
      .where('journal', '=', id)
      .where('version', '=', 7)
      .limit(limit),
  )
  expect(found.valuesOf({ limit: 3, id: '__proto__' })).toEqual(['__proto__', '__proto__', 7, 3])
})
