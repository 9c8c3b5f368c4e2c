import type { Awaitable } from '@signalbox/storage'
import type { Credential } from '../protocol/provider.ts'
import { createLru } from '../runtime/lru.ts'
import type { Clock } from '../runtime/ports.ts'
import type { WorkspaceBody } from './kinds.ts'
import type { Kept, Records } from './records.ts'

/** What a workspace has laid down for its calls. Read whole, and at most 30 s old. */
export interface Terms {
  readonly workspace: Kept<'workspace'>
  readonly budgets: readonly Kept<'budget'>[]
  /** Of the workspace's own, by provider id: the default one, where it may be used. The same objects for as long as they are the same records. */
  readonly credentials: ReadonlyMap<string, readonly Credential[]>
  /** By provider id: the default one that would be used, had its provider not refused it. Absent: there are none. */
  readonly refusedKeys?: ReadonlyMap<string, RefusedKey>
}

/** A provider key of a workspace that its provider does not take. */
interface RefusedKey {
  readonly id: string
  readonly name: string
}

export interface TermsBook {
  /** As they were read within the last 30 s. Nothing: they have to be read. */
  fresh(workspaceId: string): Terms | undefined
  /** At once where they were read within the last 30 s. Nothing: there is no such workspace. */
  of(workspaceId: string): Awaitable<Terms | undefined>
  /** The same, from a read that begins after this call. Calls that come while another read runs share the one after it. */
  readAnew(workspaceId: string): Promise<Terms | undefined>
  /** They changed: they are read anew, and what is being read now is not kept. */
  forget(workspaceId: string): void
}

export interface TermsPorts {
  readonly records: Records
  readonly clock: Clock
  /** Opens what can be opened. What cannot is not used, and ends no request. */
  readonly open: (credentials: readonly Kept<'credential'>[]) => Promise<ReadonlyMap<string, readonly Credential[]>>
}

const cacheMs = 30_000
const aheadMs = 10_000
const mostWorkspaces = 10_000
/** As many budgets, and credentials, as a workspace can have. */
export const mostOfAKind = 200

interface Cached {
  readonly terms: Terms
  /** Monotonic milliseconds: a wall clock that is set back must not keep them longer. */
  readonly until: number
}

export function keepTerms({ records, clock, open }: TermsPorts): TermsBook {
  const known = createLru<Cached>(mostWorkspaces)
  // One reading for all who ask at once.
  const reading = new Map<string, Promise<Terms | undefined>>()
  // Per workspace the read that begins when the running one ends.
  const following = new Map<string, Promise<Terms | undefined>>()

  const fresh = (workspaceId: string): Terms | undefined => {
    const cached = known.get(workspaceId)
    const leftMs = cached ? cached.until - clock.monotonic() : 0
    if (!cached || leftMs <= 0) return undefined
    // Behind the requests that come before their time is over, so that none of those after it has to wait.
    if (leftMs <= aheadMs && !reading.has(workspaceId)) void ask(workspaceId).catch(() => {})
    return cached.terms
  }
  const read = async (workspaceId: string): Promise<Terms | undefined> => {
    const [workspace, budgets, credentials] = await Promise.all([
      records.find('workspace', workspaceId, workspaceId),
      records.list('budget', { workspaceId, limit: mostOfAKind }),
      records.list('credential', { workspaceId, limit: mostOfAKind }),
    ])
    if (!workspace) return undefined
    const refusedKeys = refusedOf(credentials)
    return { workspace, budgets, credentials: await open(credentials), ...(refusedKeys.size > 0 && { refusedKeys }) }
  }
  const ask = (workspaceId: string): Promise<Terms | undefined> => {
    // From before it is read: however long that takes, what is changed meanwhile is heard of in time.
    const until = clock.monotonic() + cacheMs
    const asked = read(workspaceId)
      .then(terms => {
        if (terms && reading.get(workspaceId) === asked) known.set(workspaceId, { terms, until })
        return terms
      })
      .finally(() => {
        if (reading.get(workspaceId) === asked) reading.delete(workspaceId)
      })
    reading.set(workspaceId, asked)
    return asked
  }
  const askAfter = (running: Promise<Terms | undefined>, workspaceId: string): Promise<Terms | undefined> => {
    const begin = (): Promise<Terms | undefined> => {
      following.delete(workspaceId)
      return ask(workspaceId)
    }
    const next = running.then(begin, begin)
    following.set(workspaceId, next)
    return next
  }
  return {
    fresh,
    readAnew(workspaceId) {
      const running = reading.get(workspaceId)
      if (!running) return ask(workspaceId)
      return following.get(workspaceId) ?? askAfter(running, workspaceId)
    },
    of: workspaceId => fresh(workspaceId) ?? reading.get(workspaceId) ?? ask(workspaceId),
    forget(workspaceId) {
      known.delete(workspaceId)
      reading.delete(workspaceId)
    },
  }
}

const refusedOf = (credentials: readonly Kept<'credential'>[]): ReadonlyMap<string, RefusedKey> =>
  new Map(
    credentials
      .filter(({ body }) => body.isDefault && !body.disabled && body.validationStatus === 'invalid')
      .map(({ id, body: { provider, name } }) => [provider, { id, name }]),
  )

/** Credit is paid in anew when it runs low. */
export const reloads = ({ workspace }: Terms): boolean => workspace.body.autoReload?.enabled === true

export const isPrepaid = ({ billing }: Pick<WorkspaceBody, 'billing'>): boolean => billing === 'prepaid'
