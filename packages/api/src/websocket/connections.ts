import { GatewayError } from '@signalbox/core/errors'
import type { Uploads } from '../uploads.ts'
import type { WebSocketLimits } from './limits.ts'

/** What is counted of all WebSocket connections. */
export interface WebSocketCounts {
  readonly connections: Connections
  /** The bytes of earlier turns that they keep. */
  readonly kept: Uploads
}

/** Counts the open WebSocket connections, of each workspace and of all. */
export interface Connections {
  /** Takes a place and returns what gives it back. Throws 429 or 503 if there is none. */
  take(workspaceId: string): () => void
}

/** Connections last long; a client that is refused should not knock at once. */
const retryAfterMs = 5_000

export function createConnections({
  connections,
  connectionsPerWorkspace,
}: Pick<Required<WebSocketLimits>, 'connections' | 'connectionsPerWorkspace'>): Connections {
  const byWorkspace = new Map<string, number>()
  let total = 0
  const giveBack = (workspaceId: string): void => {
    total -= 1
    const left = (byWorkspace.get(workspaceId) ?? 1) - 1
    if (left > 0) byWorkspace.set(workspaceId, left)
    else byWorkspace.delete(workspaceId)
  }
  return {
    take(workspaceId) {
      const own = byWorkspace.get(workspaceId) ?? 0
      if (own >= connectionsPerWorkspace) throw tooManyConnectionsOfWorkspace(connectionsPerWorkspace)
      if (total >= connections) throw tooManyConnections()
      byWorkspace.set(workspaceId, own + 1)
      total += 1
      let isOpen = true
      return () => {
        if (isOpen) giveBack(workspaceId)
        isOpen = false
      }
    },
  }
}

const tooManyConnectionsOfWorkspace = (most: number): GatewayError =>
  new GatewayError('concurrent_requests_exceeded', {
    message: `This workspace has ${most} WebSocket connections open, its limit. Close one, or send the request with POST.`,
    limitedBy: 'routing',
    retryAfterMs,
  })

const tooManyConnections = (): GatewayError =>
  new GatewayError('service_unavailable', {
    message: 'This gateway has as many WebSocket connections open as it takes. Send the request with POST, or try again later.',
    retryAfterMs,
  })
