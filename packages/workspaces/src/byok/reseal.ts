import { changedRecord, type TypedRecord } from '@signalbox/core/access'
import { GatewayError } from '@signalbox/dialects/errors'
import type { RecordPut } from '@signalbox/storage'
import type { ByokPorts } from './ports.ts'

/** The result of `gateway.resealCredentials()`. */
export interface ResealResult {
  /** Number of provider keys that were sealed again. */
  readonly resealed: number
  /** Number of provider keys that do not open, because they were altered or their sealing key is missing. */
  readonly failed: number
}

const keysPerPage = 100

/**
 * Seals every provider key with the newest sealing key while requests run. It can be stopped and started again at any time: keys that
 * are sealed with the newest key already are skipped.
 */
export async function resealAll(ports: ByokPorts): Promise<ResealResult> {
  const failed = new Set<string>()
  let resealed = 0
  for (let walks = 0; walks < maxResealPasses; walks++) {
    const ended = await walk(ports, async (workspaceId, ids) => {
      const some = await resealSome(ports, workspaceId, ids)
      resealed += some.resealed
      for (const id of ids) failed.delete(id)
      for (const id of some.failed) failed.add(id)
    })
    if (ended) return { resealed, failed: failed.size }
  }
  throw new GatewayError('service_unavailable', {
    message: 'Provider keys were deleted while they were being resealed. Call `reseal` again; finished keys are skipped.',
    retryAfterMs: 1_000,
  })
}

const maxResealPasses = 100

/** Visits the keys in pages, by workspace. Returns false if the last record of a page was deleted, so that the next page is unknown. */
async function walk({ records }: ByokPorts, visit: (workspaceId: string, ids: readonly string[]) => Promise<void>): Promise<boolean> {
  let last: TypedRecord<'credential'> | undefined
  for (;;) {
    const page = await records.list('credential', { limit: keysPerPage, after: last?.id })
    for (const workspaceId of new Set(page.map(each => each.workspaceId)))
      await visit(
        workspaceId,
        page.filter(each => each.workspaceId === workspaceId).map(({ id }) => id),
      )
    if (page.length === 0 && last) return (await records.find('credential', last.workspaceId, last.id)) !== undefined
    if (page.length === 0) return true
    last = page.at(-1)
  }
}

interface ResealedSome {
  readonly resealed: number
  readonly failed: readonly string[]
}

/** Records are read again for each attempt, so that concurrent changes are kept. One audit row covers all of them. */
const resealSome = ({ records, commitWithAudit, vault }: ByokPorts, workspaceId: string, ids: readonly string[]): Promise<ResealedSome> =>
  commitWithAudit(workspaceId, {}, async () => {
    const keys = await Promise.all(ids.map(id => records.find('credential', workspaceId, id)))
    const done = await Promise.all(keys.map(key => (key ? reseal(key, vault) : 'current')))
    const puts = done.filter(each => typeof each === 'object')
    const result = { resealed: puts.length, failed: ids.filter((_, index) => done[index] === 'closed') }
    const changes = { resealed: puts.map(({ id }) => id) }
    return {
      puts,
      events: puts.length === 0 ? [] : [{ event: 'byok_key.updated', subject: { type: 'workspace', id: workspaceId }, changes }],
      result,
    }
  })

async function reseal(key: TypedRecord<'credential'>, vault: ByokPorts['vault']): Promise<RecordPut | 'current' | 'closed'> {
  const secret = await vault.unseal(key)
  if (secret === undefined) return 'closed'
  return (await vault.isNewest(key)) ? 'current' : changedRecord(key, { body: { sealed: await vault.seal(secret, key) } })
}
