import type { ReplyBody } from '@signalbox/core/access'
import { changedRecord, type Records, recordRemoval, type TypedRecord } from '@signalbox/core/access'
import type { Clock, Logger } from '@signalbox/core/runtime'
import { orStoreDown, sha256 } from '@signalbox/core/runtime'
import type { Storage } from '@signalbox/storage'
import { recover } from '@signalbox/storage/awaitable'
import type { IdempotencyEntry } from './change.ts'

/** Replies to requests with an `Idempotency-Key`, stored for 24 h. */
export interface Replies {
  /**
   * The name of a request: its key, route and the client's `Idempotency-Key`. Passed with an actor, it is stored in the same commit as
   * the actor's change.
   *
   * @example const once = await gateway.replies.name([workspaceId, keyId, 'POST', path, idempotencyKey], body)
   */
  name(call: readonly unknown[], body: string): Promise<IdempotencyEntry>
  /** The stored reply. Undefined if nothing was changed under this name within 24 h. */
  find(once: IdempotencyEntry): Promise<StoredReply | undefined>
  /** Stores the reply after the change. If that fails, it is logged, and the change stays. */
  keep(once: IdempotencyEntry, answer: NonNullable<ReplyBody['answer']>): Promise<void>
}

/** The stored reply of an earlier request with the same name. */
export interface StoredReply extends ReplyBody {
  /** Whether the earlier request had another body, so that this is a different request. */
  readonly isOther: boolean
  readonly ageMs: number
}

export interface RepliesPorts {
  readonly storage: Pick<Storage, 'records'>
  readonly records: Records
  readonly clock: Clock
  readonly logger: Logger
}

const keptMs = 24 * 3_600_000
const sweepEveryMs = 60_000
const maxRepliesSwept = 1_000

/** Creates the store of replies to requests with an idempotency key. */
export function repliesOf({ storage, records, clock, logger }: RepliesPorts): Replies {
  let sweptAt = Number.NEGATIVE_INFINITY
  const sweep = (): void => {
    const now = clock.monotonic()
    if (now < sweptAt + sweepEveryMs) return
    sweptAt = now
    void recover(
      () => storage.records.expire(clock.now(), maxRepliesSwept),
      error => logger.warn({ error: String(error) }, 'Expired records could not be removed.'),
    )
  }
  /** An expired reply still exists, and holds its name, until it is removed. */
  const findUnexpired = async (name: string): Promise<TypedRecord<'reply'> | undefined> => {
    const reply = await records.findByName('reply', name)
    if (!reply || (reply.expiresAt ?? Number.POSITIVE_INFINITY) > clock.now()) return reply
    const conflict = await orStoreDown(() => storage.records.commit({ removals: [recordRemoval(reply)] }))
    return conflict && records.findByName('reply', name)
  }
  return {
    async name(call, body) {
      sweep()
      const [name, fingerprint] = await Promise.all([sha256(JSON.stringify(call)), sha256(body)])
      return { name, fingerprint, until: clock.now() + keptMs }
    },
    async find({ name, fingerprint }) {
      const reply = await findUnexpired(name)
      return reply && { ...reply.body, isOther: reply.body.fingerprint !== fingerprint, ageMs: Math.abs(clock.now() - reply.createdAt) }
    },
    async keep({ name }, answer) {
      try {
        const reply = await records.findByName('reply', name)
        if (reply) await storage.records.commit({ puts: [changedRecord(reply, { body: { answer } })] })
      } catch (error) {
        logger.warn(
          { error: String(error) },
          'The response of an idempotent request could not be stored; a repeat of the request will be refused.',
        )
      }
    },
  }
}
