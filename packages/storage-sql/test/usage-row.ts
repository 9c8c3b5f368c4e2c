import type { UsageRow } from '@signalbox/storage'
import { intervalMs } from '@signalbox/storage/usage-totals'

/** Midnight UTC. */
export const MIDNIGHT = 20_000 * intervalMs.day

/** A row that differs with `n` in everything that totals depend on; one every 7 minutes. `makeRow('req_1', 1)` */
export const makeRow = (id: string, n: number, fields: Partial<UsageRow> = {}): UsageRow => ({
  id,
  workspaceId: 'ws_1',
  keyId: `key_${n % 3}`,
  at: MIDNIGHT + n * 420_000,
  modelAsked: 'm',
  model: `m${n % 5}`,
  provider: `p${n % 2}`,
  credential: n % 4 === 0 ? 'workspace' : 'platform',
  strategy: 's',
  streamed: true,
  inputTokens: n,
  outputTokens: 2 * n,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  estimated: false,
  cost: n % 100,
  byokCost: 0,
  result: n % 10 === 0 ? 'error' : 'ok',
  attempts: 1 + (n % 2),
  durationMs: 100 + n,
  firstContentMs: 50,
  warnings: [],
  ...fields,
})
