import { writeSync } from 'node:fs'
import { findEngine } from '../src/sqlite/engine.ts'
import { sqliteSpool } from '../src/sqlite/spool.ts'

// Run as a process of its own by spool.test.ts: appends lines until it is killed, and prints each once it is kept.
const spool = sqliteSpool(findEngine(), process.argv[2] ?? '')
for (let n = 0; ; n++) {
  await spool.append([`line ${n}`])
  writeSync(1, `line ${n}\n`)
}
