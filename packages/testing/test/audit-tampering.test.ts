import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createGateway, type Gateway } from '@signalbox/gateway'
import type { AuditRow } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import type { AuditVerification } from '@signalbox/workspaces'
import { expect, onTestFinished, test } from 'vitest'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

/** What someone with write access to the file could change. `at`: the place of a row in its chain. */
const tampering: Readonly<Record<string, (db: DatabaseSync, at: number) => void>> = {
  'what was changed': (db, at) => void db.prepare(`UPDATE audit SET changes = '{"log_retention_days":1}' WHERE place = ?`).run(at),
  'who did it': (db, at) => void db.prepare(`UPDATE audit SET actor_key_id = 'somebody' WHERE place = ?`).run(at),
  'when it was': (db, at) => void db.prepare('UPDATE audit SET at = at - 1 WHERE place = ?').run(at),
  'its hash': (db, at) => void db.prepare(`UPDATE audit SET hash = 'f' || substr(hash, 2) || 'f' WHERE place = ?`).run(at),
  'the existence of a row': (db, at) => void db.prepare('DELETE FROM audit WHERE place = ?').run(at),
}

test.each(Object.entries(tampering))('verification fails after a change in the database of %s', async (_, tamper) => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const file = join(folder, 'signalbox.db')
  const gateway = createGateway({ providers: [], models: [], storage: sqliteStorage(file), logger: quiet })
  onTestFinished(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const { id } = await gateway.workspaces.create({ name: 'W' })
  const { auditEvents, settings } = gateway.workspaces(id)
  for (const days of [10, 20, 30, 40]) await settings.update({ logRetentionDays: days })
  expect(await auditEvents.verify()).toEqual({ valid: true, checked: 5, anchored: true, anchoredFrom: 1 })
  const rows = (await auditEvents.list()).toReversed()

  const db = new DatabaseSync(file)
  tamper(db, 3)
  db.close()

  const verified = await auditEvents.verify()
  expect(verified.valid).toBe(false)
  expect([rows[2]?.id, rows[3]?.id]).toContain(verified.firstBrokenId)
})

interface Workspace {
  readonly gateway: Gateway
  readonly id: string
  /** Does something to the file while the gateway runs. */
  readonly inFile: (does: (db: DatabaseSync) => void) => void
  readonly verify: () => Promise<AuditVerification>
  /** One more change. */
  readonly change: () => Promise<unknown>
}

/** A workspace with ten audit rows, in a file. */
async function workspace(sealingKey: Uint8Array | undefined = new Uint8Array(32).fill(9)): Promise<Workspace> {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const file = join(folder, 'signalbox.db')
  const gateway = createGateway({
    providers: [],
    models: [],
    storage: sqliteStorage(file),
    logger: quiet,
    ...(sealingKey && { sealingKey }),
  })
  onTestFinished(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const { id } = await gateway.workspaces.create({ name: 'W' })
  const { auditEvents, settings } = gateway.workspaces(id)
  let days = 10
  const change = () => settings.update({ logRetentionDays: ++days })
  for (let at = 0; at < 9; at++) await change()
  const inFile: Workspace['inFile'] = does => {
    const db = new DatabaseSync(file)
    does(db)
    db.close()
  }
  return { gateway, id, inFile, verify: () => auditEvents.verify(), change }
}

/** Rows as a forger with the source code at hand would write them: each hash is right. */
function rewritten(rows: readonly AuditRow[]): readonly AuditRow[] {
  let previousHash = ''
  return rows.map((row, index) => {
    const changes = index === 3 ? '{"log_retention_days":365}' : row.changes
    const { id, workspaceId, place, event, subjectType, subjectId, at } = row
    const text = [previousHash, id, workspaceId, place, event, null, null, subjectType, subjectId, at, null, null, changes]
    const hash = createHash('sha256').update(JSON.stringify(text)).digest('hex')
    const forged = { ...row, changes, previousHash, hash }
    previousHash = hash
    return forged
  })
}

const write = (db: DatabaseSync, rows: readonly AuditRow[]): void => {
  for (const { place, changes, previousHash, hash } of rows)
    db.prepare('UPDATE audit SET changes = ?, previous_hash = ?, hash = ? WHERE place = ?').run(changes, previousHash, hash, place)
}

/** What can be done to the table of rows alone, and the reported reason. */
const attacks: Readonly<Record<string, readonly [reason: string, does: (db: DatabaseSync, rows: readonly AuditRow[]) => void]>> = {
  'cut off the last 5 rows': ['end_missing', db => db.exec('DELETE FROM audit WHERE place > 5')],
  'deleted all rows': ['end_missing', db => db.exec('DELETE FROM audit')],
  'wrote the whole chain anew, without a fault in it': ['chain_replaced', (db, rows) => write(db, rewritten(rows))],
  'put an older copy of the table in its place': [
    'end_missing',
    db => {
      db.exec('CREATE TABLE copy AS SELECT * FROM audit WHERE place <= 7')
      db.exec('DELETE FROM audit')
      db.exec('INSERT INTO audit SELECT * FROM copy')
      db.exec('DROP TABLE copy')
    },
  ],
}

for (const [what, [reason, attack]] of Object.entries(attacks)) {
  test.each([
    ['with', new Uint8Array(32).fill(9)],
    ['without', undefined],
  ])(`an attacker who ${what} is detected at once and after the next change, %s a sealing key`, async (_, sealingKey) => {
    const { gateway, id, inFile, verify, change } = await workspace(sealingKey)
    expect(await verify()).toEqual({ valid: true, checked: 10, anchored: true, anchoredFrom: 1 })
    const rows = (await gateway.workspaces(id).auditEvents.list()).toReversed()
    inFile(db => attack(db, rows))
    expect(await verify()).toMatchObject({ valid: false, anchored: true, reason })
    for (let time = 0; time < 2; time++) {
      await change()
      expect(await verify()).toMatchObject({ valid: false, anchored: true, reason: 'end_missing' })
    }
  })
}

test('rows appended by a forger are detected at the end of the chain', async () => {
  const { inFile, verify } = await workspace()
  inFile(db => {
    const [row] = db.prepare('SELECT * FROM audit WHERE place = 10').all() as Record<string, unknown>[]
    const text = [
      'id',
      'workspace_id',
      'place',
      'event',
      'actor_key_id',
      'actor_name',
      'subject_type',
      'subject_id',
      'at',
      'request_id',
      'ip',
      'changes',
    ]
    const forged: Record<string, unknown> = { ...row, id: 'forged', place: 11, previous_hash: row?.hash }
    forged.hash = createHash('sha256')
      .update(JSON.stringify([forged.previous_hash, ...text.map(name => forged[name])]))
      .digest('hex')
    const columns = Object.keys(forged).filter(name => name !== 'seq')
    db.prepare(`INSERT INTO audit (${columns}) VALUES (${columns.map(() => '?')})`).run(...(columns.map(name => forged[name]) as string[]))
  })
  expect(await verify()).toMatchObject({ valid: false, reason: 'rows_added' })
})

test('without the sealing key a forger cannot forge a matching record of the end', async () => {
  const { gateway, id, inFile, verify, change } = await workspace()
  const rows = rewritten((await gateway.workspaces(id).auditEvents.list()).toReversed())
  inFile(db => {
    write(db, rows)
    const anchor = db.prepare(`SELECT body FROM records WHERE kind = 'audit_anchor'`).get()
    const body = JSON.stringify({ ...JSON.parse(String(anchor?.body)), hash: rows.at(-1)?.hash })
    db.prepare(`UPDATE records SET body = ? WHERE kind = 'audit_anchor'`).run(body)
  })
  expect(await verify()).toMatchObject({ valid: false, reason: 'anchor_changed' })
  await change()
  expect(await verify()).toMatchObject({ valid: false, reason: 'end_missing' })
})

test('without the record of the end, verification reports that the end is unknown, and later since when it is known', async () => {
  const { inFile, verify, change } = await workspace()
  inFile(db => db.exec(`DELETE FROM audit WHERE place > 5; DELETE FROM records WHERE kind = 'audit_anchor'`))
  expect(await verify()).toEqual({ valid: true, checked: 5, anchored: false })
  await change()
  expect(await verify()).toEqual({ valid: true, checked: 6, anchored: true, anchoredFrom: 6 })
})

test('the record of the end is sealed with a new key at the next change; without the old key it is unknown until then', async () => {
  const storage = memoryStorage()
  const open = (sealingKey: number, ...previous: number[]) => {
    const [key = new Uint8Array(), ...previousSealingKeys] = [sealingKey, ...previous].map(byte => new Uint8Array(32).fill(byte))
    return createGateway({ providers: [], models: [], storage, logger: quiet, sealingKey: key, previousSealingKeys }).workspaces
  }
  const [old, both, fresh] = [open(1), open(2, 1), open(2)]
  const { id } = await old.create({ name: 'W' })
  expect(await both(id).auditEvents.verify()).toEqual({ valid: true, checked: 1, anchored: true, anchoredFrom: 1 })
  expect(await fresh(id).auditEvents.verify()).toEqual({ valid: true, checked: 1, anchored: false })
  await both(id).settings.update({ logRetentionDays: 9 })
  expect(await fresh(id).auditEvents.verify()).toEqual({ valid: true, checked: 2, anchored: true, anchoredFrom: 1 })
})

test('verification succeeds while two processes are writing to the chain', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  const file = join(folder, 'signalbox.db')
  const open = () =>
    createGateway({ providers: [], models: [], storage: sqliteStorage(file), logger: quiet, sealingKey: new Uint8Array(32).fill(9) })
  const testbeds = [open(), open()]
  onTestFinished(async () => {
    for (const gateway of testbeds) await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const id = (await testbeds[0]?.workspaces.create({ name: 'W' }))?.id ?? ''
  let writing = true
  const verified: boolean[] = []
  const verifying = (async () => {
    while (writing) verified.push((await testbeds[0]?.workspaces(id).auditEvents.verify())?.valid === true)
  })()
  await Promise.all(Array.from({ length: 30 }, (_, at) => testbeds[at % 2]?.workspaces(id).settings.update({ logRetentionDays: 1 + at })))
  writing = false
  await verifying
  expect(verified.length).toBeGreaterThan(0)
  expect(verified).not.toContain(false)
  expect(await testbeds[1]?.workspaces(id).auditEvents.verify()).toEqual({ valid: true, checked: 31, anchored: true, anchoredFrom: 1 })
})
