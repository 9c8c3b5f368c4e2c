import { changedRecord } from '@signalbox/core/access'
import { createLru, timersOf } from '@signalbox/core/runtime'
import type { Credential } from '@signalbox/dialects/protocol'
import pTimeout from 'p-timeout'
import type { ByokPorts, ByokSetting } from './ports.ts'
import { type ResealResult, resealAll } from './reseal.ts'
import { type Heard, isNews, tierHeard, withTier } from './tiers.ts'
import { keepValidations, type Validations } from './validation.ts'

/** What a gateway uses for the provider keys of its workspaces, in addition to their records. */
export interface Byok extends Pick<ByokSetting, 'vault' | 'providers' | 'tiersOf' | 'lasting'>, Validations {
  /** Takes the response to a call with a workspace's credential: its rate limit headers may reveal the account tier. */
  hear(credential: Credential, heard: Heard): void
  reseal(): Promise<ResealResult>
  /** Waits for background work, for a limited time. */
  close(): Promise<void>
}

const hourMs = 3_600_000
const maxSeenTiers = 10_000
const closingMs = 5_000

export function keepByok(setting: ByokSetting): Byok {
  const { clock, logger } = setting
  const running = new Set<Promise<void>>()
  // Created on first use, because some runtimes have no AbortController before their first request.
  let controller: AbortController | undefined
  const ending = (): AbortController => {
    controller ??= new AbortController()
    return controller
  }
  let closing = false
  const inBackground: ByokPorts['inBackground'] = (trouble, run) => {
    if (closing) return
    const done: Promise<void> = run()
      .then(
        () => {},
        (error: unknown) => logger.warn({ error: String(error) }, trouble),
      )
      .finally(() => running.delete(done))
    running.add(done)
  }
  const ports: ByokPorts = { ...setting, inBackground, signal: () => ending().signal }
  return {
    ...setting,
    ...keepValidations(ports),
    hear: listenForTiers(ports),
    reseal: () => resealAll(ports),
    async close() {
      closing = true
      const settled = Promise.allSettled(running)
      await pTimeout(settled, { milliseconds: closingMs, fallback: () => [], customTimers: timersOf(clock) })
      ending().abort()
      await Promise.allSettled(running)
    },
  }
}

/** Looks at each credential at most once an hour, and stores only changes. */
function listenForTiers({ vault, commitWithAudit, records, tiersOf, clock, inBackground }: ByokPorts): Byok['hear'] {
  const written = createLru<number>(maxSeenTiers)
  return (credential, heard) => {
    const known = vault.recordOf(credential)
    const tier = known && tierHeard(heard, tiersOf(known.body.provider))
    if (!known || !isNews(known.body, withTier(known.body, tier))) return
    const { id, workspaceId } = known
    const now = clock.monotonic()
    if (now - (written.get(id) ?? Number.NEGATIVE_INFINITY) < hourMs) return
    written.set(id, now)
    inBackground('The tier of a provider key could not be stored.', () =>
      commitWithAudit(workspaceId, {}, async () => {
        const key = await records.find('credential', workspaceId, id)
        const news = key && withTier(key.body, tier)
        // The secret was replaced meanwhile, and may belong to another account.
        if (!key || !news || key.name !== known.name || !isNews(key.body, news)) return { events: [], result: undefined }
        const changes = { account_tier: news.accountTier, account_tier_source: news.accountTierSource }
        return {
          puts: [changedRecord(key, { body: news })],
          events: [{ event: 'byok_key.updated', subject: { type: 'byok_key', id }, changes }],
          result: undefined,
        }
      }),
    )
  }
}
