import { writeSync } from 'node:fs'
import { redisStores } from '../src/index.ts'

// One of several processes that send requests under one limit. Each line is a request that was admitted: its text is written before
// anything else happens, so that what was read of a killed process is what it knew.

const [, , url = '', prefix = '', limit = '0'] = process.argv
const { counters } = redisStores({ url, prefix, maxWaitMs: 10_000 })

const client = async (): Promise<void> => {
  for (;;) {
    const requests = ['rpm', 'rpm:key:model'].map(key => ({ key: `w/${key}`, amount: 1, limit: Number(limit), windowMs: 3_600_000 }))
    const refusal = await counters.take(requests, 0)
    if (refusal) return
    writeSync(1, '+')
  }
}
await Promise.all(Array.from({ length: 8 }, client))
process.exit(0)
