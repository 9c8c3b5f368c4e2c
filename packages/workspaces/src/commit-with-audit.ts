import type { WorkspacePolicies } from '@signalbox/core/access'
import { newRecord, type Records, type TypedRecord } from '@signalbox/core/access'
import type { Clock, Ids } from '@signalbox/core/runtime'
import { orStoreDown, sleep } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type { AuditRow, Change, Conflict, RecordPut, Storage } from '@signalbox/storage'
import { allOf } from '@signalbox/storage/awaitable'
import type { AuditAnchors } from './audit-anchor.ts'
import { hashOf } from './audit-chain.ts'
import type { Actor, CommitWithAudit, Draft } from './change.ts'
import type { BoundsCheck, SecretCheck } from './check-bounds.ts'

export interface CommitPorts {
  readonly storage: Pick<Storage, 'records' | 'audit'>
  readonly records: Pick<Records, 'find'>
  readonly anchors: AuditAnchors
  readonly terms: Pick<WorkspacePolicies, 'forget'>
  /** Throws if a key would loosen its own restrictions. */
  readonly checkBounds: BoundsCheck
  /** Throws if the secret of the actor may change nothing. */
  readonly checkSecret: SecretCheck
  readonly clock: Clock
  readonly ids: Ids
  /** Milliseconds during which a change is decided again, while other writers are faster, at most 400 times. Default: 0, only the usual attempts. */
  readonly patienceMs?: number
}

interface Decided<T> extends Draft<T> {
  /** The newest row of the chain before the change was decided. */
  readonly last: AuditRow | undefined
  readonly anchor: TypedRecord<'audit_anchor'> | undefined
}

/** Other processes may write to the same chain: a process that loses the race waits for a random time, longer each time. */
const maxCommitAttempts = 20
/** Attempts with patience, for a clock that stands still: that of Workers moves only with I/O. About twice as many as 8 s have. */
const maxPatientAttempts = 400
const waitMs = 2
const maxWaitMs = 100

export function createCommitWithAudit({
  storage,
  records,
  anchors,
  terms,
  checkBounds,
  checkSecret,
  clock,
  ids,
  patienceMs = 0,
}: CommitPorts): CommitWithAudit {
  // Commits of a workspace run one after the other within a process. In parallel they would only conflict and retry.
  const queues = new Map<string, Promise<unknown>>()
  const inTurn = <T>(workspaceId: string, run: () => Promise<T>): Promise<T> => {
    const turn = (queues.get(workspaceId) ?? Promise.resolve()).then(run, run)
    const over = turn.then(
      () => {},
      () => {},
    )
    queues.set(workspaceId, over)
    void over.then(() => queues.get(workspaceId) === over && queues.delete(workspaceId))
    return turn
  }

  const attempt = async <T>(workspaceId: string, actor: Actor, { last, anchor, ...draft }: Decided<T>): Promise<Conflict | undefined> => {
    const at = clock.now()
    const rows = await auditRowsOf(draft.events, { workspaceId, actor, at, last, ids })
    const newest = rows.at(-1)
    const moved = newest && (await anchors.moved(workspaceId, anchor, { before: last, newest }))
    const change: Change = {
      puts: [...(draft.puts ?? []), ...(moved ? [moved.put] : []), ...noteOf(workspaceId, actor, { at, id: ids.uuid() })],
      removals: draft.removals ?? [],
      credits: draft.credits ?? [],
      audit: rows,
    }
    const conflict = await storage.records.commit(change)
    if (!conflict) moved?.reportModified?.()
    return conflict
  }
  return (workspaceId, actor, decide) =>
    inTurn(workspaceId, async () => {
      const until = clock.monotonic() + patienceMs
      for (let tries = 0; tries < maxCommitAttempts || (tries < maxPatientAttempts && clock.monotonic() < until); tries++) {
        // Read before anything else: a later change by another process then conflicts, even with records that this draft does not write.
        const [last, anchor] = await allOf([
          () => orStoreDown(() => storage.audit.last(workspaceId)),
          () => records.find('audit_anchor', workspaceId, workspaceId),
        ])
        await checkSecret(workspaceId, actor)
        const draft = await decide()
        if (draft.events.length === 0) return draft.result
        await checkBounds(workspaceId, actor, draft)
        const conflict = await orStoreDown(() => attempt(workspaceId, actor, { ...draft, last, anchor }))
        if (!conflict) {
          // Cached policies contain no sessions, and hundreds of sessions may be created per second, so these keep the cache.
          if (draft.puts?.some(({ kind }) => kind === 'session_count') !== true) terms.forget(workspaceId)
          return draft.result
        }
        if (conflict.on === 'name' && conflict.kind === 'reply') throw doneBeforeError()
        if (conflict.on === 'name' && draft.taken) throw draft.taken
        if (conflict.on === 'sum')
          throw new GatewayError('state_precondition_failed', {
            message: `The credit of a workspace, and the sum of all its credits, must stay within ${Number.MAX_SAFE_INTEGER} microdollars above or below 0, because larger sums are not exact. Use a smaller amount, or have the operator adjust the credit towards 0 first with \`billing.adjust\`.`,
            param: 'amount',
          })
        await sleep(clock, ((ids.random(1)[0] ?? 0) / 255) * Math.min(waitMs * tries, maxWaitMs))
      }
      throw new GatewayError('service_unavailable', {
        message: 'Too many concurrent changes to this workspace. Try again in a moment.',
        retryAfterMs: 1_000,
      })
    })
}

interface AuditContext extends Pick<Decided<unknown>, 'last'>, Pick<CommitPorts, 'ids'> {
  readonly workspaceId: string
  readonly actor: Actor
  readonly at: number
}

/** The audit rows of events, each with the hash of the previous row. */
async function auditRowsOf(
  events: Draft<unknown>['events'],
  { workspaceId, actor: actorOfAll, at, ids, ...before }: AuditContext,
): Promise<readonly AuditRow[]> {
  let { last } = before
  const rows: AuditRow[] = []
  for (const { event, subject, changes, actor = actorOfAll } of events) {
    const row = {
      id: ids.uuid(),
      workspaceId,
      place: (last?.place ?? 0) + 1,
      event,
      ...(actor.key && { actorKeyId: actor.key.id, actorName: actor.key.name }),
      subjectType: subject.type,
      subjectId: subject.id,
      at,
      requestId: actor.requestId,
      ip: actor.ip,
      changes: JSON.stringify(changes ?? {}),
      previousHash: last?.hash ?? '',
    }
    last = { ...row, hash: await hashOf(row) }
    rows.push(last)
  }
  return rows
}

const noteOf = (
  workspaceId: string,
  { idempotency }: Actor,
  { at, id }: { readonly at: number; readonly id: string },
): readonly RecordPut[] =>
  idempotency
    ? [
        newRecord('reply', {
          workspaceId,
          id,
          name: idempotency.name,
          createdAt: at,
          expiresAt: idempotency.until,
          body: { fingerprint: idempotency.fingerprint },
        }),
      ]
    : []

/** The name of an idempotent change is taken, so its stored reply is looked up. */
const doneBeforeError = (): GatewayError =>
  new GatewayError('idempotency_replay_unavailable', {
    message:
      'A request with this `Idempotency-Key` has already completed, and its response is no longer stored. Read the resource, or use another key.',
  })
