import { writeSync } from 'node:fs'
import { sqliteStorage } from '../src/sqlite.ts'
import { makeRow } from './usage-row.ts'

// Run as a process of its own by usage.test.ts: `node usage-child.ts <path> <name> <rows>`. Appends rows, thirty-two at a
// time, reads totals now and then, and prints acknowledged writes.

const [path = '', name = '', rows = '0'] = process.argv.slice(2)
const { usage, close } = sqliteStorage(path)

for (let n = 0; n < Number(rows); n += 32) {
  await Promise.all(Array.from({ length: 32 }, (_, i) => usage.append(makeRow(`${name}-${n + i}`, n + i))))
  writeSync(1, `${n + 32}\n`)
  if (n % 320 === 0) await usage.totals({ workspaceId: 'ws_1', from: 0, to: Number.MAX_SAFE_INTEGER, interval: 'day' })
}
await close()
