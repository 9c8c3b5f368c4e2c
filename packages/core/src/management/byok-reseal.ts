import type { RecordPut } from '@signalbox/storage'
import { changed, type Kept } from '../access/records.ts'
import type { ByokPorts } from './byok.ts'

export interface Resealed {
  /** Provider keys that were sealed anew. */
  readonly resealed: number
  /** Provider keys that do not open: they were altered, or their sealing key is gone. */
  readonly left: number
}

const atOnce = 100

/**
 * Seals every provider key with the newest sealing key, while requests run. It may be stopped and begun again at any time: what
 * is sealed anew already is passed over.
 */
export async function resealAll(ports: ByokPorts): Promise<Resealed> {
  const total = { resealed: 0, left: 0 }
  let after: string | undefined
  for (;;) {
    const page = await ports.records.list('credential', { limit: atOnce, ...(after !== undefined && { after }) })
    for (const workspaceId of new Set(page.map(each => each.workspaceId))) {
      const ids = page.filter(each => each.workspaceId === workspaceId).map(({ id }) => id)
      const { resealed, left } = await resealSome(ports, workspaceId, ids)
      total.resealed += resealed
      total.left += left
    }
    after = page.at(-1)?.id
    if (page.length < atOnce) return total
  }
}

/** Read anew at each try: what was changed in between is sealed as it is now. One row in the audit tells of all of them. */
const resealSome = ({ records, register, vault }: ByokPorts, workspaceId: string, ids: readonly string[]): Promise<Resealed> =>
  register(workspaceId, {}, async () => {
    const keys = await Promise.all(ids.map(id => records.find('credential', workspaceId, id)))
    const done = await Promise.all(keys.map(key => (key ? reseal(key, vault) : 'current')))
    const puts = done.filter(each => typeof each === 'object')
    const result = { resealed: puts.length, left: done.filter(each => each === 'closed').length }
    const changes = { resealed: puts.map(({ id }) => id) }
    return {
      puts,
      events: puts.length === 0 ? [] : [{ event: 'byok_key.updated', subject: { type: 'workspace', id: workspaceId }, changes }],
      result,
    }
  })

async function reseal(key: Kept<'credential'>, vault: ByokPorts['vault']): Promise<RecordPut | 'current' | 'closed'> {
  const secret = await vault.unseal(key)
  if (secret === undefined) return 'closed'
  return (await vault.isNewest(key)) ? 'current' : changed(key, { body: { sealed: await vault.seal(secret, key) } })
}
