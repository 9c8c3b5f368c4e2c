import { GatewayError } from '@signalbox/dialects/errors'
import type { Caller, Gateway } from '@signalbox/gateway'
import type { ClientLimits, Settings } from './settings.ts'

// An allowance of bytes and not of requests: 200 slots of 32 MiB are 6 GB. Announced lengths are claimed at once and released when the
// response starts, because the body is kept for the next provider until then.

/** Counts the bytes of request bodies in memory, for each end user, each workspace and in total, and refuses those beyond a limit. */
export interface Uploads {
  /** Absent `caller`: requests without a key share one allowance. */
  open(caller: Sharer | undefined): Upload
}

/** The part of a caller that identifies its share: an end user has its own share within that of its workspace. */
export type Sharer = Pick<Caller, 'workspaceId' | 'keyId' | 'isEndUser'>

export interface Upload {
  /** Counts the body as `bytes` long, never less than before. Returns an error if that exceeds a limit. */
  claim(bytes: number): GatewayError | undefined
  /** Counts `bytes` in addition to the body, up to the share of the caller, until the returned function is called. Throws beyond a limit. */
  claimMore(bytes: number): () => void
  /** Releases all, which is no longer in memory. What is claimed later is refused. */
  release(): void
}

/** Most bodies are processed quickly. */
const retryAfterMs = 1_000

/** Amounts in use, by name. */
export interface Tally {
  of(name: string): number
  /** A negative `more` releases. */
  add(name: string, more: number): void
}

/** Names with an amount of 0 are not kept. `createTally().of('app') // 0` */
export function createTally(): Tally {
  const used = new Map<string, number>()
  return {
    of: name => used.get(name) ?? 0,
    add(name, more) {
      const now = (used.get(name) ?? 0) + more
      if (now > 0) used.set(name, now)
      else used.delete(name)
    },
  }
}

/**
 * The most that one of several may use: at least half of what the others leave, so a few of them cannot use up all of it. `perWorkspace` of
 * more than half of `total` is as much of what is left.
 *
 * @example maxBeside(80, { total: 160, perWorkspace: 80 }) // 40
 */
export const maxBeside = (others: number, { total, perWorkspace }: { readonly total: number; readonly perWorkspace: number }): number =>
  (perWorkspace >= total ? 1 : Math.max(0.5, perWorkspace / total)) * (total - others)

/** The name of an end user's own share. Undefined if the caller only has the share of its workspace. */
export const userShareOf = ({ workspaceId, keyId, isEndUser }: Sharer): string | undefined =>
  isEndUser ? JSON.stringify([workspaceId, keyId]) : undefined

const nobody: Sharer = { workspaceId: '', keyId: '' }

export type UploadLimits = Pick<Settings, 'maxBodyBytes' | 'maxUploadBytes' | 'maxUploadBytesPerWorkspace' | 'maxUploadBytesPerUser'>

export function createUploads({ maxBodyBytes, maxUploadBytes, maxUploadBytesPerWorkspace, maxUploadBytesPerUser }: UploadLimits): Uploads {
  // A body that can never fit would be refused for ever with a time to retry.
  const maxPerWorkspace = Math.max(maxBodyBytes, maxUploadBytesPerWorkspace)
  const maxPerUser = Math.max(maxBodyBytes, maxUploadBytesPerUser)
  const shares = { total: Math.max(maxBodyBytes, maxUploadBytes), perWorkspace: maxPerWorkspace }
  const [workspaces, users] = [createTally(), createTally()]
  let total = 0

  return {
    open(caller = nobody) {
      const { workspaceId } = caller
      const user = userShareOf(caller)
      const ownMost = user === undefined ? maxPerWorkspace : Math.min(maxPerUser, maxPerWorkspace)
      let claimed = 0
      let beside = 0
      let isOpen = true
      const add = (bytes: number): void => {
        total += bytes
        workspaces.add(workspaceId, bytes)
        if (user !== undefined) users.add(user, bytes)
      }
      const take = (more: number): GatewayError | undefined => {
        if (!isOpen) return tooManyUploadsError()
        if (user !== undefined && users.of(user) + more > ownMost) return tooManyOfError('this user', ownMost)
        if (workspaces.of(workspaceId) + more > maxPerWorkspace)
          return user === undefined ? tooManyOfError('this workspace', maxPerWorkspace) : tooManyOfError('the workspace of this user')
        const own = workspaces.of(workspaceId)
        if (own + more > maxBeside(total - own, shares)) return tooManyUploadsError()
        add(more)
        return undefined
      }
      return {
        claim(bytes) {
          const more = bytes - claimed
          if (isOpen && !(more > 0)) return undefined
          const refusal = take(more)
          if (!refusal) claimed = bytes
          return refusal
        },
        claimMore(bytes) {
          const more = Math.min(bytes, ownMost - claimed - beside)
          const refusal = take(more)
          if (refusal) throw refusal
          beside += more
          let isHeld = true
          return () => {
            if (!isHeld || !isOpen) return
            isHeld = false
            beside -= more
            add(-more)
          }
        },
        release() {
          add(-claimed - beside)
          claimed = 0
          beside = 0
          isOpen = false
        },
      }
    },
  }
}

/** `most` is absent if the limit is not shown to the caller. */
const tooManyOfError = (whose: string, most?: number): GatewayError =>
  new GatewayError('concurrent_requests_exceeded', {
    message: `The concurrent request bodies of ${whose} would exceed its limit${most === undefined ? '' : ` of ${most} bytes`}. Wait for one to finish.`,
    limitedBy: 'routing',
    retryAfterMs,
  })

const tooManyUploadsError = (): GatewayError =>
  new GatewayError('service_unavailable', {
    message: 'This gateway is receiving too many bytes of request bodies. Try again in a moment.',
    retryAfterMs,
  })

/** The bytes of a body in few pieces. A client may send them one by one, and keeping each one separately would take hundreds of bytes. */
interface BodyBytes {
  add(piece: Uint8Array): void
  /** The pieces in order. Call it once, at the end. */
  pieces(): readonly Uint8Array[]
}

/** Smaller pieces are copied together. */
const smallBytes = 16_384
const slabBytes = 65_536

/** Collects the bytes of one request body; small pieces are copied together. */
export function collectBytes(): BodyBytes {
  const pieces: Uint8Array[] = []
  let slab: Uint8Array | undefined
  let filled = 0
  const closeSlab = (): void => {
    if (slab !== undefined && filled > 0) pieces.push(slab.subarray(0, filled))
    slab = undefined
    filled = 0
  }
  return {
    add(piece) {
      // The first piece is kept as it is, because usually it is the only one.
      if (piece.byteLength >= smallBytes || (pieces.length === 0 && slab === undefined)) {
        closeSlab()
        pieces.push(piece)
        return
      }
      if (slab !== undefined && filled + piece.byteLength > slabBytes) closeSlab()
      slab ??= new Uint8Array(slabBytes)
      slab.set(piece, filled)
      filled += piece.byteLength
    },
    pieces() {
      closeSlab()
      return pieces
    },
  }
}

/** The measurement of one upload, started by `watchUpload`. */
export interface UploadPace {
  /** Reports that more bytes have arrived. */
  readonly heard: (bytes: number) => void
  readonly stop: () => void
}

/** The window is divided into this many ticks. */
const steps = 10

/**
 * Measures the speed of an upload over the last `bodyIdleMs`, and runs `tooSlow` once if it falls below `bodyBytesPerSecond`. Time is
 * counted in timer ticks, so that a stalled process or a clock jump costs a client at most one tick.
 */
export function watchUpload(
  clock: Gateway['clock'],
  { bodyIdleMs, bodyBytesPerSecond }: Pick<Required<ClientLimits>, 'bodyIdleMs' | 'bodyBytesPerSecond'>,
  tooSlow: () => void,
): UploadPace {
  const minBytes = Math.max(1, (bodyIdleMs * bodyBytesPerSecond) / 1_000)
  const stepMs = Math.max(1, bodyIdleMs / steps)
  const window = new Array<number>(steps).fill(0)
  let ticks = 0
  let inWindow = 0
  const tick = (): void => {
    ticks += 1
    const oldest = ticks % steps
    if (ticks >= steps && inWindow < minBytes) {
      tooSlow()
      return
    }
    inWindow -= window[oldest] ?? 0
    window[oldest] = 0
    timer = clock.setTimeout(tick, stepMs)
  }
  let timer = clock.setTimeout(tick, stepMs)
  return {
    heard: bytes => {
      inWindow += bytes
      window[ticks % steps] = (window[ticks % steps] ?? 0) + bytes
    },
    stop: () => clock.clearTimeout(timer),
  }
}
