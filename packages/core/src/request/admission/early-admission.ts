import type { Awaitable } from '@signalbox/storage'
import { allSettled, recover } from '@signalbox/storage/awaitable'
import type { Caller } from '../../access/caller.ts'
import { createCancellation } from '../../runtime/cancellation.ts'
import type { Clock } from '../../runtime/ports.ts'
import { type Interruption, runSteps, type Step } from '../../runtime/steps.ts'
import { storeDownError } from '../../runtime/store-down.ts'
import { storageSilent, storageWaitMs, withinStorageWait } from '../../runtime/timers.ts'
import { type PolicyPorts, policyFor } from '../policy/apply-policy.ts'
import { type RunningRequest, removeRunning } from '../running-requests.ts'
import { type AdmitPorts, leaveSlots, take } from './admit.ts'
import type { Leases } from './leases.ts'
import { CallerLimits, isOwnRateLimit, type SlotKey } from './limits.ts'

/**
 * A request that is admitted before its body is read: it has its slot, and counts against the rate of its workspace and the uploads of
 * its key. The rate limit of its key depends on the model, which is in the body, so it is checked later. The call that receives this
 * admission takes neither slot nor workspace rate again.
 */
export interface EarlyAdmission {
  readonly slots: readonly SlotKey[]
  /** Transfers the slot to a fully admitted call, which renews and releases it from now on. */
  take(): void
  /** Releases the slot, unless a call has taken it. `isRequest`: the body was a valid request that was refused. Idempotent. */
  leave(isRequest?: boolean): Awaitable<unknown>
}

export interface EarlyAdmissionPorts extends Pick<PolicyPorts, 'policies'>, AdmitPorts {
  readonly running: Set<RunningRequest>
  readonly leases: Leases
}

/**
 * Counts the request and takes its slot. Throws 429 if a limit is reached and 503 if the storage does not respond, after releasing the
 * slot.
 */
export const admitEarly = (ports: EarlyAdmissionPorts, caller: Caller, requestId: string): Awaitable<EarlyAdmission> =>
  runSteps(takeEarly(ports, caller, requestId), storageWatch(ports.clock))

/** Bounds each wait for the storage. */
const storageWatch = (clock: Clock): Interruption => ({
  isOn: true,
  watch(interrupt) {
    const timer = clock.setTimeout(() => interrupt(storeDownError(storageSilent())), storageWaitMs)
    return () => clock.clearTimeout(timer)
  },
})

function* takeEarly(ports: EarlyAdmissionPorts, caller: Caller, requestId: string): Step<EarlyAdmission> {
  const { storage, limits, clock, running, leases, refusals } = ports
  const own = new CallerLimits(caller, yield* policyFor(ports, caller), limits)
  const at = clock.now()
  const upload = own.upload()
  const slots = own.slots()
  const refused = yield* take(storage, [...slots, upload, ...own.workspaceRequests()], { id: requestId, at })
  if (refused) {
    const error = refused.limit.refuse(refused.left)
    if (isOwnRateLimit(error)) refusals.count(caller, at)
    throw error
  }
  // Until a call takes the slot, it is renewed like the slot of a running call.
  const cancellation = createCancellation()
  const entry: RunningRequest = { requestId, control: { cancellation, leave: async () => {} }, slots }
  const drop = (): void => removeRunning(running, entry)
  running.add(entry)
  leases.begin(clock.monotonic())
  // A closing gateway does not wait for bodies, since their calls would be refused.
  cancellation.onCancel(drop)
  let held = true
  const uncount = (): unknown =>
    recover<unknown>(
      () => storage.counters.add(upload.key, -1, clock.now()),
      () => undefined,
    )
  return {
    slots,
    take: () => {
      held = false
      drop()
      uncount()
    },
    leave: isRequest => {
      drop()
      if (!held) return undefined
      held = false
      if (isRequest) uncount()
      return recover(
        () => withinStorageWait(allSettled(leaveSlots(slots, requestId, storage)), clock),
        () => undefined,
      )
    },
  }
}
