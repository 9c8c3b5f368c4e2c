import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createGateway } from '@signalbox/core'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { expect, onTestFinished, test } from 'vitest'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

/** What whoever has the file could do to it. `at`: the place of a row in its chain. */
const tampering: Readonly<Record<string, (db: DatabaseSync, at: number) => void>> = {
  'what was changed': (db, at) => void db.prepare(`UPDATE audit SET changes = '{"log_retention_days":1}' WHERE place = ?`).run(at),
  'who did it': (db, at) => void db.prepare(`UPDATE audit SET actor_key_id = 'somebody' WHERE place = ?`).run(at),
  'when it was': (db, at) => void db.prepare('UPDATE audit SET at = at - 1 WHERE place = ?').run(at),
  'its hash': (db, at) => void db.prepare(`UPDATE audit SET hash = 'f' || substr(hash, 2) || 'f' WHERE place = ?`).run(at),
  'that there was such a row': (db, at) => void db.prepare('DELETE FROM audit WHERE place = ?').run(at),
}

test.each(Object.entries(tampering))('an audit chain shows that in the database somebody changed %s', async (_, tamper) => {
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
  expect(await auditEvents.verify()).toEqual({ valid: true, checked: 5 })
  const rows = (await auditEvents.list()).toReversed()

  const db = new DatabaseSync(file)
  tamper(db, 3)
  db.close()

  const verified = await auditEvents.verify()
  expect(verified.valid).toBe(false)
  expect([rows[2]?.id, rows[3]?.id]).toContain(verified.firstBrokenId)
})
