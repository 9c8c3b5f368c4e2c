import type { ChildProcess } from 'node:child_process'
import cluster, { type Worker } from 'node:cluster'

// Node's primary accepts a connection, hands it to a worker, and keeps its own end until the worker has acknowledged it. If the worker
// is killed in between, Node waits for ever: the event `disconnect`, with which the cluster forgets a worker, does not come while a
// handle is not acknowledged, and the client of that connection is never answered. Here the event is made up for, and so is the
// acknowledgement, with `accepted: false`, with which Node hands the connection to another worker. If a version of Node names its
// messages otherwise, that connection stays open as it would without this.

/** A message between Node's own halves of a cluster. */
interface ClusterMessage {
  readonly cmd: 'NODE_CLUSTER'
  readonly act?: string
  readonly seq?: number
  readonly ack?: number
  readonly accepted?: boolean
}

/** Milliseconds between looks whether all that a worker has sent is read, and how many looks there are. */
const look = { everyMs: 10, max: 500 } as const

/** Gives the connections that a worker did not take before it ended to other workers. To be called once for each new worker. */
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

/** The event of Node's own messages, which its types leave out. */
const onClusterMessage = (child: NodeJS.EventEmitter, run: (message: ClusterMessage) => void): void => void child.on('internalMessage', run)

/** Runs when the end of the channel has been read, or after five seconds. */
function whenRead(child: ChildProcess, run: () => void, left: number = look.max): void {
  if (!child.connected || left === 0) run()
  else setTimeout(() => whenRead(child, run, left - 1), look.everyMs)
}
