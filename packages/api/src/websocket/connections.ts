import { GatewayError } from '@signalbox/dialects/errors'
import { createTally, maxBeside, type Sharer, type Uploads, userShareOf } from '../uploads.ts'
import type { WebSocketLimits } from './limits.ts'

/** The shared counts of all WebSocket connections. */
export interface WebSocketCounts {
  readonly connections: Connections
  /** The bytes of earlier turns that connections keep. */
  readonly kept: Uploads
}

/** Counts the open WebSocket connections, for each end user, each workspace and in total. */
export interface Connections {
  /** Counts a connection and returns a function that releases it. Throws 429 or 503 beyond a limit. */
  take(caller: Sharer): () => void
}

/** Connections last long, so a refused client should not retry at once. */
const retryAfterMs = 5_000

type ConnectionLimits = Pick<Required<WebSocketLimits>, 'maxConnections' | 'maxConnectionsPerWorkspace' | 'maxConnectionsPerUser'>

export function createConnections({ maxConnections, maxConnectionsPerWorkspace, maxConnectionsPerUser }: ConnectionLimits): Connections {
  const [workspaces, users] = [createTally(), createTally()]
  const shares = { total: maxConnections, perWorkspace: maxConnectionsPerWorkspace }
  let total = 0
  return {
    take(caller) {
      const { workspaceId } = caller
      const user = userShareOf(caller)
      if (user !== undefined && users.of(user) >= maxConnectionsPerUser) throw tooManyOfError('This user', maxConnectionsPerUser)
      const own = workspaces.of(workspaceId)
      if (own >= maxConnectionsPerWorkspace)
        throw user === undefined
          ? tooManyOfError('This workspace', maxConnectionsPerWorkspace)
          : tooManyOfError('The workspace of this user')
      if (own + 1 > maxBeside(total - own, shares))
        throw new GatewayError('service_unavailable', {
          message: 'This gateway has too many open WebSocket connections. Send the request with POST, or try again later.',
          retryAfterMs,
        })
      const add = (more: 1 | -1): void => {
        total += more
        workspaces.add(workspaceId, more)
        if (user !== undefined) users.add(user, more)
      }
      add(1)
      let isOpen = true
      return () => {
        if (isOpen) add(-1)
        isOpen = false
      }
    },
  }
}

/** `most` is absent if the limit is not shown to the caller. */
const tooManyOfError = (whose: string, most?: number): GatewayError =>
  new GatewayError('concurrent_requests_exceeded', {
    message: `${whose} has reached its limit of ${most === undefined ? '' : `${most} `}open WebSocket connections. Close one, or send the request with POST.`,
    limitedBy: 'routing',
    retryAfterMs,
  })
