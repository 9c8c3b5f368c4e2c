import type { ChangeChannel, ChangeListener, RecordChange } from '@signalbox/storage/changes'
import { Redis } from 'ioredis'
import type { RedisConnection } from './connection.ts'

export interface RedisChangesOptions {
  readonly connection: Pick<RedisConnection, 'publish' | 'listenable'>
  readonly channel: string
  /** The id of this process, to ignore its own messages. */
  readonly self: string
  /** Runs a call within the time limit. */
  readonly inTime: <T>(run: () => Promise<T>) => Promise<T>
}

/** Messages between processes by PUBLISH and SUBSCRIBE. */
export interface RedisChanges extends ChangeChannel {
  /** Reconnects: the connection may be dead without having closed. */
  reset(): void
  close(): void
}

interface ListenerState extends RedisChangesOptions {
  readonly listeners: Set<ChangeListener>
  client: Redis | undefined
  asking: ReturnType<typeof setInterval> | undefined
  timer: ReturnType<typeof setTimeout> | undefined
  attempts: number
  isClosed: boolean
}

/** Maximum records named in one message; with more, any cached record may have changed. */
const maxNamed = 500
const listenAgainMs = 200
const maxRetryMs = 2_000
/** Milliseconds between pings of the subscribed connection. Nothing else is sent over it, so a connection dropped by a firewall would be silent forever. */
const askMs = 2_000

/** Creates a channel of changes. Connects when something subscribes. `redisChanges({ … }).subscribe(listener)` */
export function redisChanges(options: RedisChangesOptions): RedisChanges {
  const state: ListenerState = {
    ...options,
    listeners: new Set(),
    client: undefined,
    asking: undefined,
    timer: undefined,
    attempts: 0,
    isClosed: false,
  }
  const { connection, channel, self, inTime } = options
  return {
    publish(changes) {
      const named = changes && changes.length <= maxNamed ? changes.map(({ kind, workspaceId, id }) => [kind, workspaceId, id]) : undefined
      return inTime(() => connection.publish(channel, JSON.stringify({ from: self, changes: named })))
    },
    subscribe(listener) {
      state.listeners.add(listener)
      if (!state.client && state.timer === undefined) listen(state)
      return () => void state.listeners.delete(listener)
    },
    reset: () => state.client?.disconnect(),
    close() {
      state.isClosed = true
      clearTimeout(state.timer)
      clearInterval(state.asking)
      state.client?.disconnect()
    },
  }
}

/** Subscribes on one server, and on another one when that connection ends. */
function listen(state: ListenerState): void {
  const { connection, channel, listeners, self } = state
  state.timer = undefined
  if (state.isClosed) return
  const servers = connection.listenable()
  const client = new Redis({
    ...servers[state.attempts % servers.length],
    enableOfflineQueue: true,
    retryStrategy: null,
    maxRetriesPerRequest: null,
  })
  state.client = client
  client.on('error', () => {})
  client.on('message', (_, message) => hear(message, { listeners, self }))
  client.on('ready', () => {
    client.subscribe(channel).then(
      () => {
        state.attempts = 0
        // Fails if no response comes within the command timeout.
        state.asking = setInterval(() => void client.ping().catch(() => client.disconnect()), askMs)
        state.asking.unref()
        // Messages may have been missed before.
        for (const listener of [...listeners]) listener()
      },
      () => client.disconnect(),
    )
  })
  client.on('end', () => {
    if (state.client !== client || state.isClosed) return
    clearInterval(state.asking)
    state.client = undefined
    state.attempts += 1
    const delay = Math.min(listenAgainMs * 2 ** Math.min(state.attempts, 10), maxRetryMs) * (0.75 + Math.random() / 2)
    state.timer = setTimeout(() => listen(state), delay)
    state.timer.unref()
  })
}

function hear(message: string, { listeners, self }: Pick<ListenerState, 'listeners' | 'self'>): void {
  const { from, changes } = parse(message)
  if (from === self) return
  for (const listener of [...listeners]) listener(changes)
}

/** An unreadable message may mean any change. */
function parse(message: string): { readonly from?: unknown; readonly changes?: readonly RecordChange[] } {
  try {
    const { from, changes } = JSON.parse(message) as { from?: unknown; changes?: unknown }
    if (!Array.isArray(changes)) return { from }
    return {
      from,
      changes: changes.map(([kind, workspaceId, id]) => ({ kind: String(kind), workspaceId: String(workspaceId), id: String(id) })),
    }
  } catch {
    return {}
  }
}
