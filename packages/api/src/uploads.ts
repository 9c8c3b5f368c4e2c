import { GatewayError } from '@signalbox/core/errors'
import type { Settings } from './settings.ts'

/** Counts the bytes of request bodies that are in memory, of each workspace and of all, and refuses what would be too many. */
export interface Uploads {
  /** `workspaceId`: absent for requests without a key, which share one allowance. */
  open(workspaceId: string | undefined): Upload
}

export interface Upload {
  /** Counts the body as `bytes` long, or as long as it was counted before if that is more. Returns what refuses it. */
  claim(bytes: number): GatewayError | undefined
  /** Counts so many bytes more, beside the body; at most as many as one workspace may have. Returns what refuses them. */
  claimMore(bytes: number): GatewayError | undefined
  /** Nothing of the body is in memory any more. */
  release(): void
}

/** Most bodies are over in a moment. */
const retryAfterMs = 1_000

export function createUploads({
  bodyBytes,
  uploadBytes,
  uploadBytesPerWorkspace,
}: Pick<Settings, 'bodyBytes' | 'uploadBytes' | 'uploadBytesPerWorkspace'>): Uploads {
  // What never fits would be refused for ever, with a time to come back.
  const maxPerWorkspace = Math.max(bodyBytes, uploadBytesPerWorkspace)
  const most = Math.max(bodyBytes, uploadBytes)
  const byWorkspace = new Map<string, number>()
  let total = 0

  const add = (workspaceId: string, bytes: number): void => {
    total += bytes
    const own = (byWorkspace.get(workspaceId) ?? 0) + bytes
    if (own > 0) byWorkspace.set(workspaceId, own)
    else byWorkspace.delete(workspaceId)
  }
  return {
    open(workspaceId = '') {
      let claimed = 0
      let beside = 0
      let isOpen = true
      const take = (more: number): GatewayError | undefined => {
        if (!isOpen) return tooManyUploads()
        if ((byWorkspace.get(workspaceId) ?? 0) + more > maxPerWorkspace) return tooManyOfWorkspace(maxPerWorkspace)
        if (total + more > most) return tooManyUploads()
        add(workspaceId, more)
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
          const more = Math.min(bytes, maxPerWorkspace - claimed - beside)
          const refusal = take(more)
          if (!refusal) beside += more
          return refusal
        },
        release() {
          add(workspaceId, -claimed - beside)
          claimed = 0
          beside = 0
          isOpen = false
        },
      }
    },
  }
}

const tooManyOfWorkspace = (most: number): GatewayError =>
  new GatewayError('concurrent_requests_exceeded', {
    message: `Request bodies of this workspace that are under way would hold more than ${most} bytes, its limit. Wait for one to end.`,
    limitedBy: 'routing',
    retryAfterMs,
  })

const tooManyUploads = (): GatewayError =>
  new GatewayError('service_unavailable', {
    message: 'This gateway has as many bytes of request bodies under way as it takes. Try again in a moment.',
    retryAfterMs,
  })
