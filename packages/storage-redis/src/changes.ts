import type { ChangeChannel, ChangeListener, RecordChange } from '@signalbox/storage/changes'
import { Redis } from 'ioredis'
import type { RedisConnection } from './connection.ts'

export interface RedisChangesOptions {
  readonly connection: Pick<RedisConnection, 'publish' | 'listenable'>
  readonly channel: string
  /** The id of this process, to leave out what it published itself. */
  readonly self: string
  /** Runs a call within the bounded wait. */
  readonly inTime: <T>(run: () => Promise<T>) => Promise<T>
}

/** Messages between processes by PUBLISH and SUBSCRIBE. */
export interface RedisChanges extends ChangeChannel {
  /** Connects anew: the connection may be dead without having ended. */
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

/** Records named in one message; of more, all that is cached may have changed. */
const maxNamed = 500
const listenAgainMs = 200
const maxRetryMs = 2_000
/**
 * Milliseconds between two questions whether a connection that listens is alive: nothing is sent over it otherwise, and one that a
 * firewall has dropped would be silent for ever.
 */
const askMs = 2_000

/** A channel of changes. Nothing is connected before something listens. `redisChanges({ … }).subscribe(listener)` */
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
      return inTime(() => connection.publish(channel, JSON.stringify({ from: self, ...(named && { changes: named }) })))
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

/** Listens on one server, and when that connection ends on another one. */
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
        // It fails where no answer comes within the bound of every command.
        state.asking = setInterval(() => void client.ping().catch(() => client.disconnect()), askMs)
        state.asking.unref()
        // Messages may have been published before.
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

/** What cannot be read may mean any change. */
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
