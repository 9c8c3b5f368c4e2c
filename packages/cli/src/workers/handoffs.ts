import type { ChildProcess } from 'node:child_process'
import cluster, { type Worker } from 'node:cluster'

// Node's primary accepts a connection, passes it to a worker, and keeps its own handle until the worker has acknowledged it. If the worker
// is killed in between, Node waits forever: the `disconnect` event, on which the cluster forgets a worker, is not emitted while a handle is
// unacknowledged, and the client of that connection never gets a response. This module emits the missing event and the missing
// acknowledgement, with `accepted: false`, so that Node passes the connection to another worker. If a version of Node names its messages
// differently, that connection stays open as it would without this.

/** An internal message of Node's cluster. */
interface ClusterMessage {
  readonly cmd: 'NODE_CLUSTER'
  readonly act?: string
  readonly seq?: number
  readonly ack?: number
  readonly accepted?: boolean
}

/** Milliseconds between checks whether everything a worker sent has been read, and the maximum number of checks. */
const look = { everyMs: 10, max: 500 } as const

/** Passes the connections that a worker did not accept before it ended to other workers. Call it once per new worker. */
export function returnHandoffs(worker: Worker): void {
  const child: ChildProcess = worker.process
  const unanswered = new Set<number>()
  const { send } = child
  const noteAndSend = (message: ClusterMessage, ...rest: readonly unknown[]): unknown => {
    if (message.cmd === 'NODE_CLUSTER' && message.act === 'newconn' && message.seq !== undefined) unanswered.add(message.seq)
    return Reflect.apply(send, child, [message, ...rest])
  }
  Object.assign(child, { send: noteAndSend })
  onClusterMessage(child, ({ ack }) => ack !== undefined && unanswered.delete(ack))
  let hasDisconnected = false
  child.once('disconnect', () => {
    hasDisconnected = true
    const others = Object.values(cluster.workers ?? {}).filter(other => other !== worker && other?.isConnected())
    if (others.length > 0) for (const ack of unanswered) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: false })
  })
  const disconnect = (): void => void (hasDisconnected || child.emit('disconnect'))
  child.once('exit', () => whenRead(child, () => setImmediate(disconnect)))
}

/** The event of Node's internal messages, which its types omit. */
const onClusterMessage = (child: NodeJS.EventEmitter, run: (message: ClusterMessage) => void): void => void child.on('internalMessage', run)

/** Runs when the end of the channel has been read, or after five seconds. */
function whenRead(child: ChildProcess, run: () => void, left: number = look.max): void {
  if (!child.connected || left === 0) run()
  else setTimeout(() => whenRead(child, run, left - 1), look.everyMs)
}
