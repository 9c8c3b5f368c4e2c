import { once } from 'node:events'
import { openSync, writeSync } from 'node:fs'
import { redisStores } from '../src/index.ts'

// One of several processes that send requests under one limit. Each byte of its file is an admitted request, and is written before anything
// else happens, so that the file of a killed process is complete. A file, because a pipe may be full.

const [, , url = '', prefix = '', limit = '0', path = ''] = process.argv
const stores = redisStores({ url, prefix, maxWaitMs: 10_000 })
const { counters } = stores
await stores.probe()
// The output reports that it is ready; its first input means that all are.
const file = openSync(path, 'w')
await once(process.stdin, 'data')

const client = async (): Promise<void> => {
  for (;;) {
    const requests = ['rpm', 'rpm:key:model'].map(key => ({ key: `w/${key}`, amount: 1, limit: Number(limit), windowMs: 120_000 }))
    const refusal = await counters.take(requests, 0)
    if (refusal) return
    writeSync(file, '+')
  }
}
await Promise.all(Array.from({ length: 8 }, client))
process.exit(0)
